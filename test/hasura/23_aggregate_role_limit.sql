-- a role with a row filter and a limit: the limit is on the nodes only
PREPARE q(json, bigint) AS
SELECT json_build_object('aggregate', json_build_object('count', COUNT(*)),
    'nodes', (SELECT coalesce(json_agg("_sub_query"."root.f.nodes"), '[]')
      FROM (SELECT "_unnest_table"."root.f.nodes" FROM UNNEST(array_agg("root.f.nodes")) AS "_unnest_table"("root.f.nodes") LIMIT 999) AS "_sub_query")) AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root.f.nodes"
    FROM (SELECT * FROM "public"."links" WHERE (EXISTS (SELECT 1 FROM "public"."can" AS "__be_0_can" WHERE ((("__be_0_can"."object_id") = ("public"."links"."id")) AND ((("__be_0_can"."action_id") = (('40')::bigint))
      AND (("__be_0_can"."subject_id") = ((($1) ->> 'x-hasura-user-id')::bigint))))) AND (("public"."links"."id") < (($2)::bigint)))) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"link","x-hasura-user-id":"380"}', 150);
EXECUTE q('{"x-hasura-role":"link","x-hasura-user-id":"381"}', 150);
