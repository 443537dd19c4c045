-- a live query of two subscribers at once
PREPARE q(uuid[], json[]) AS
SELECT "__subs"."result_id", "__fld_resp"."root" AS "result"
  FROM UNNEST(($1)::uuid[], ($2)::json[]) AS "__subs"("result_id", "result_vars")
  LEFT OUTER JOIN LATERAL (SELECT json_build_object('links', "_links"."root") AS "root"
    FROM (SELECT coalesce(json_agg("root"), '[]') AS "root"
      FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root"
        FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."to_id") = ((("__subs"."result_vars" #>> ARRAY['query', 'to']))::bigint))
          AND (("public"."links"."type_id") = ANY((("__subs"."result_vars" #>> ARRAY['synthetic', '0']))::bigint[])))) AS "_root.base") AS "_root") AS "_links")
    AS "__fld_resp" ON ('true') ORDER BY 1;
EXECUTE q('{11111111-1111-1111-1111-111111111111,22222222-2222-2222-2222-222222222222}',
  ARRAY['{"query":{"to":"1"},"synthetic":["{1,2,3}"]}', '{"query":{"to":"3"},"synthetic":["{4,5}"]}']::json[]);
