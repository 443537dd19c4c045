-- the objects type, from and to of some links
PREPARE q(json, text) AS
SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.or.type"."type" AS "type", "_root.or.from"."from" AS "from", "_root.or.to"."to" AS "to") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") = ANY(($2)::bigint[]))) AS "_root.base"
    LEFT OUTER JOIN LATERAL (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.or.type.base"."id" AS "id", "_root.or.type.base"."type_id" AS "type_id") AS "_e")) AS "type"
      FROM (SELECT * FROM "public"."links" WHERE (("_root.base"."type_id") = ("id")) LIMIT 1) AS "_root.or.type.base") AS "_root.or.type" ON ('true')
    LEFT OUTER JOIN LATERAL (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.or.from.base"."id" AS "id") AS "_e")) AS "from"
      FROM (SELECT * FROM "public"."links" WHERE (("_root.base"."from_id") = ("id")) LIMIT 1) AS "_root.or.from.base") AS "_root.or.from" ON ('true')
    LEFT OUTER JOIN LATERAL (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.or.to.base"."id" AS "id") AS "_e")) AS "to"
      FROM (SELECT * FROM "public"."links" WHERE (("_root.base"."to_id") = ("id")) LIMIT 1) AS "_root.or.to.base") AS "_root.or.to" ON ('true')
  ) AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', '{7,8,9,10,19999}');
