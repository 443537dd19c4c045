-- insert_links: one statement, gaps are DEFAULT
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("id", "from_id", "to_id", "type_id") VALUES (DEFAULT, ('5')::bigint, ('6')::bigint, ('1')::bigint), (DEFAULT, DEFAULT, DEFAULT, ('2')::bigint), (('900001')::bigint, ('1')::bigint, ('1')::bigint, ('3')::bigint)
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
COMMIT;
SELECT * FROM links WHERE id IN (20001,20002,900001) ORDER BY id;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("id", "type_id") VALUES (('900009')::bigint, ('1')::bigint), (('900001')::bigint, ('1')::bigint)
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
ROLLBACK;
SELECT * FROM links WHERE id IN (900001,900009) ORDER BY id;
