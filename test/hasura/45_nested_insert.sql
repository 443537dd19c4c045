-- an object before its parent, an array after it, in one transaction
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mutres__links" AS (INSERT INTO "public"."links" ("type_id") VALUES (('2')::bigint) RETURNING *, ('true')::boolean AS "check__constraint")
SELECT ("id")::text AS "before" FROM "_mutres__links" \gset
WITH "_mutres__links" AS (INSERT INTO "public"."links" ("from_id", "type_id") VALUES ((:'before')::bigint, ('1')::bigint) RETURNING *, ('true')::boolean AS "check__constraint")
SELECT ("id")::text AS "parent" FROM "_mutres__links" \gset
WITH "_mra__links" AS (INSERT INTO "public"."links" ("from_id", "to_id", "type_id") VALUES (('1')::bigint, (:'parent')::bigint, ('3')::bigint), (('2')::bigint, (:'parent')::bigint, ('3')::bigint)
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
WITH "_mra__links" AS (SELECT ("row"::"public"."links").* FROM (VALUES ((:'parent')::bigint, (:'before')::bigint, ('0')::bigint, ('1')::bigint)) AS "row"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', 4, 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root"));
COMMIT;
SELECT * FROM links WHERE id > 20000 AND id < 900000 ORDER BY id;
