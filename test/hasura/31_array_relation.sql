-- the arrays out (with a filter, and an object in it) and in_aggregate of some links
PREPARE q(json, text, bigint) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.ar.root.out"."out" AS "out", "_root.ar.root.in_aggregate"."in_aggregate" AS "in_aggregate") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") = ANY(($2)::bigint[]))) AS "_root.base"
    LEFT OUTER JOIN LATERAL (SELECT coalesce(json_agg("out"), '[]') AS "out"
      FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.ar.root.out.base"."id" AS "id", "_root.ar.root.out.or.from"."from" AS "from") AS "_e")) AS "out"
        FROM (SELECT * FROM "public"."links" WHERE ((("_root.base"."id") = ("from_id")) AND (("public"."links"."type_id") = (($3)::bigint)))) AS "_root.ar.root.out.base"
        LEFT OUTER JOIN LATERAL (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.ar.root.out.or.from.base"."id" AS "id") AS "_e")) AS "from"
          FROM (SELECT * FROM "public"."links" WHERE (("_root.ar.root.out.base"."from_id") = ("id")) LIMIT 1) AS "_root.ar.root.out.or.from.base")
          AS "_root.ar.root.out.or.from" ON ('true')) AS "_root.ar.root.out") AS "_root.ar.root.out" ON ('true')
    LEFT OUTER JOIN LATERAL (SELECT json_build_object('aggregate', json_build_object('count', COUNT(*))) AS "in_aggregate"
      FROM (SELECT 1 FROM (SELECT * FROM "public"."links" WHERE (("_root.base"."id") = ("to_id"))) AS "_root.ar.root.in_aggregate.base") AS "_root.ar.root.in_aggregate")
      AS "_root.ar.root.in_aggregate" ON ('true')) AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', '{1,2,3,7}', 3);
