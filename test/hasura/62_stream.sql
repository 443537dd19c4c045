-- a stream with a cursor
\echo ordered
PREPARE q(uuid[], json[]) AS
SELECT "__subs"."result_id", "__fld_resp"."root" AS "result", "__fld_resp"."cursor" AS "cursor"
  FROM UNNEST(($1)::uuid[], ($2)::json[]) AS "__subs"("result_id", "result_vars")
  LEFT OUTER JOIN LATERAL (SELECT json_build_object('links_stream', "_links_stream"."root") AS "root", to_json("_links_stream"."cursor") AS "cursor"
    FROM (SELECT coalesce(json_agg("root" ORDER BY "root.pg.id" ASC NULLS LAST), '[]') AS "root", json_build_object('id', (MAX("root.pg.id"))::text) AS "cursor"
      FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root", "_root.base"."id" AS "root.pg.id"
        FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."id") > ((("__subs"."result_vars" #>> ARRAY['cursor', 'id']))::bigint))
          AND (("public"."links"."type_id") = ((("__subs"."result_vars" #>> ARRAY['synthetic', '0']))::bigint))) ORDER BY "id" ASC NULLS LAST LIMIT 3) AS "_root.base"
        ORDER BY "root.pg.id" ASC NULLS LAST) AS "_root") AS "_links_stream") AS "__fld_resp" ON ('true');
EXECUTE q('{11111111-1111-1111-1111-111111111111}', ARRAY['{"synthetic":["1"],"cursor":{"id":"100"}}']::json[]);
EXECUTE q('{11111111-1111-1111-1111-111111111111}', ARRAY['{"synthetic":["1"],"cursor":{"id":"19990"}}']::json[]);
