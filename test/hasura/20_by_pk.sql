-- links_by_pk
PREPARE q(json, bigint) AS
SELECT coalesce((json_agg("root") -> 0), 'null') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") = (($2)::bigint))) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', 5);
EXECUTE q('{"x-hasura-role":"admin"}', -1);
EXECUTE q('{"x-hasura-role":"admin"}', 20000);
EXECUTE q('{"x-hasura-role":"admin"}', 9223372036854775807);
