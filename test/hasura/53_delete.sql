-- delete_links
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (DELETE FROM "public"."links" WHERE ((("public"."links"."id") = (('27')::bigint)) OR (("public"."links"."id") = (('28')::bigint)))
  RETURNING *),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root"));
COMMIT;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (DELETE FROM "public"."links" WHERE (("public"."links"."from_id") = (('33')::bigint))
  RETURNING *),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root"));
COMMIT;
SELECT * FROM links WHERE id IN (27,28) ORDER BY id;
