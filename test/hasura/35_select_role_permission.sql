-- the role's filter and the user's
PREPARE q(json, bigint, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((EXISTS (SELECT 1 FROM "public"."can" AS "__be_0_can" WHERE ((("__be_0_can"."object_id") = ("public"."links"."id")) AND ((("__be_0_can"."action_id") = (('40')::bigint))
      AND (("__be_0_can"."subject_id") = ((($1) ->> 'x-hasura-user-id')::bigint)))))) AND ((("public"."links"."type_id") = (($2)::bigint)) AND (("public"."links"."id") < (($3)::bigint)))) LIMIT 1000) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"link","x-hasura-user-id":"380"}', 1, 300);
