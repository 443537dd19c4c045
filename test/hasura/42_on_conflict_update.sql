-- upsert, with a where
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("id", "from_id", "to_id", "type_id") VALUES (('11')::bigint, ('1')::bigint, ('2')::bigint, ('3')::bigint), (('900002')::bigint, ('1')::bigint, ('2')::bigint, ('3')::bigint) ON CONFLICT ON CONSTRAINT "links_pkey" DO UPDATE SET "from_id" = EXCLUDED."from_id", "to_id" = EXCLUDED."to_id", "type_id" = EXCLUDED."type_id" WHERE (("public"."links"."type_id") <> (('99')::bigint))
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
COMMIT;
SELECT * FROM links WHERE id IN (11,900002) ORDER BY id;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("id", "from_id", "type_id") VALUES (('11')::bigint, ('7')::bigint, ('3')::bigint) ON CONFLICT ON CONSTRAINT "links_pkey" DO UPDATE SET "from_id" = EXCLUDED."from_id" WHERE (("public"."links"."type_id") <> (('3')::bigint))
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
COMMIT;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("id", "type_id") VALUES (('900020')::bigint, ('1')::bigint), (('900020')::bigint, ('2')::bigint) ON CONFLICT ON CONSTRAINT "links_pkey" DO UPDATE SET "type_id" = EXCLUDED."type_id"
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
ROLLBACK;
SELECT * FROM links WHERE id IN (11,900002,900020) ORDER BY id;
