-- order_by id both ways, with limit and offset
\echo ordered
PREPARE q(json, bigint) AS
SELECT coalesce(json_agg("root" ORDER BY "root.pg.id" DESC NULLS FIRST), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root", "_root.base"."id" AS "root.pg.id"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."type_id") = (($2)::bigint)) ORDER BY "id" DESC NULLS FIRST LIMIT 5 OFFSET 10) AS "_root.base" ORDER BY "root.pg.id" DESC NULLS FIRST) AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', 1);
PREPARE q2(json) AS
SELECT coalesce(json_agg("root" ORDER BY "root.pg.id" ASC NULLS LAST), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root", "_root.base"."id" AS "root.pg.id"
    FROM (SELECT * FROM "public"."links" WHERE ('true') ORDER BY "id" ASC NULLS LAST LIMIT 5) AS "_root.base" ORDER BY "root.pg.id" ASC NULLS LAST) AS "_root";
EXECUTE q2('{"x-hasura-role":"admin"}');
PREPARE q3(json, bigint) AS
SELECT coalesce(json_agg("root" ORDER BY "root.pg.id" ASC NULLS LAST), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root", "_root.base"."id" AS "root.pg.id"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") > (($2)::bigint)) ORDER BY "id" ASC NULLS LAST LIMIT 5 OFFSET 2) AS "_root.base" ORDER BY "root.pg.id" ASC NULLS LAST) AS "_root";
EXECUTE q3('{"x-hasura-role":"admin"}', 19000);
