-- insert_links_one
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("from_id", "to_id", "type_id") VALUES (('5')::bigint, ('6')::bigint, ('1')::bigint)
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT (SELECT coalesce((json_agg("root") -> 0), 'null') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root"),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
COMMIT;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("from_id", "to_id", "type_id") VALUES (('5')::bigint, ('6')::bigint, NULL)
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT (SELECT coalesce((json_agg("root") -> 0), 'null') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root"),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
ROLLBACK;
