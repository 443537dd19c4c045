-- update_links_many: one statement each, one transaction
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (UPDATE "public"."links" SET "to_id" = ('1')::bigint WHERE (("public"."links"."id") = (('25')::bigint))
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
WITH "_mra__links" AS (UPDATE "public"."links" SET "to_id" = ('2')::bigint WHERE (("public"."links"."id") = (('26')::bigint))
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
WITH "_mra__links" AS (UPDATE "public"."links" SET "to_id" = ('3')::bigint WHERE (("public"."links"."id") = (('25')::bigint))
  RETURNING *, ('true')::boolean AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
COMMIT;
SELECT * FROM links WHERE id IN (25,26) ORDER BY id;
