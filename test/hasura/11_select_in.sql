-- links(where: {id: {_in: [...]}}): one array as text; and _nin
PREPARE q(json, text) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") = ANY(($2)::bigint[]))) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', '{3,5,7,5,-1,20000}');
EXECUTE q('{"x-hasura-role":"admin"}', '{}');
EXECUTE q('{"x-hasura-role":"admin"}', '{NULL,9}');
PREPARE q2(json, text, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((NOT (("public"."links"."type_id") = ANY(($2)::bigint[]))) AND (("public"."links"."id") <= (($3)::bigint)))) AS "_root.base") AS "_root";
EXECUTE q2('{"x-hasura-role":"admin"}', '{1,2,3}', 40);
