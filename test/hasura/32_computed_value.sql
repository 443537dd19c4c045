-- computed fields take the whole row
PREPARE q(json, bigint, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id", "public"."links__value__function"("_root.base") AS "value") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."type_id") = (($2)::bigint)) AND (("public"."links"."id") < (($3)::bigint))) LIMIT 100) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', 1, 120);
SELECT l.id, (links__same_type__function(l, 6)).id AS other FROM links l WHERE l.id IN (6, 7, 11, 16) ORDER BY 1;
