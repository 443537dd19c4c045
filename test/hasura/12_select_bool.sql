-- _and, _or, _not, _is_null, _neq together
PREPARE q(json, bigint, bigint, bigint, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((((("public"."links"."id") > (($2)::bigint)) AND (("public"."links"."id") < (($3)::bigint))) OR (("public"."links"."from_id") IS NULL)) AND ((NOT (("public"."links"."type_id") = (($4)::bigint))) AND (("public"."links"."to_id") <> (($5)::bigint))))) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', 10, 40, 2, 0);
