-- order_by: {type: {id: asc}}: above a lateral join
\echo ordered
PREPARE q(json, bigint) AS
SELECT coalesce(json_agg("root" ORDER BY "root.or.type.pg.id" ASC NULLS LAST, "root.pg.id" ASC NULLS LAST), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root",
      "_root.or.type"."root.or.type.pg.id" AS "root.or.type.pg.id", "_root.base"."id" AS "root.pg.id"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") < (($2)::bigint))) AS "_root.base"
    LEFT OUTER JOIN LATERAL (SELECT "_root.or.type.base"."id" AS "root.or.type.pg.id"
      FROM (SELECT * FROM "public"."links" WHERE (("_root.base"."type_id") = ("id")) LIMIT 1) AS "_root.or.type.base") AS "_root.or.type" ON ('true')
    ORDER BY "root.or.type.pg.id" ASC NULLS LAST, "root.pg.id" ASC NULLS LAST LIMIT 7) AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', 2000);
