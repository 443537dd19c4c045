-- links(where: {type_id: {_eq: 1}, id: {_lt: 60}}), and by each column alone
PREPARE by_type(json, bigint, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."type_id") = (($2)::bigint)) AND (("public"."links"."id") < (($3)::bigint)))) AS "_root.base") AS "_root";
EXECUTE by_type('{"x-hasura-role":"admin"}', 1, 60);
EXECUTE by_type('{"x-hasura-role":"admin"}', 77, 60);
PREPARE by_from_id(json, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."from_id") = (($2)::bigint))) AS "_root.base") AS "_root";
EXECUTE by_from_id('{"x-hasura-role":"admin"}', 8);
EXECUTE by_from_id('{"x-hasura-role":"admin"}', -8);
EXECUTE by_from_id('{"x-hasura-role":"admin"}', NULL);
PREPARE by_to_id(json, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."to_id") = (($2)::bigint))) AS "_root.base") AS "_root";
EXECUTE by_to_id('{"x-hasura-role":"admin"}', 8);
EXECUTE by_to_id('{"x-hasura-role":"admin"}', -8);
EXECUTE by_to_id('{"x-hasura-role":"admin"}', NULL);
