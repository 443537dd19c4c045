-- count, min, max, distinct, and the nodes; max over the whole table
PREPARE q(json, bigint) AS
SELECT json_build_object('aggregate', json_build_object('count', COUNT(*), 'max', json_build_object('id', max("_root"."root.pg.id")),
    'min', json_build_object('id', min("_root"."root.pg.id")), 'distinct', COUNT(DISTINCT ("_root"."root.pg.type_id"))),
    'nodes', coalesce(json_agg("root.f.nodes"), '[]')) AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id") AS "_e")) AS "root.f.nodes",
      "_root.base"."id" AS "root.pg.id", "_root.base"."type_id" AS "root.pg.type_id"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."to_id") = (($2)::bigint))) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}', 9);
EXECUTE q('{"x-hasura-role":"admin"}', -9);
PREPARE q2(json) AS
SELECT json_build_object('aggregate', json_build_object('max', json_build_object('id', max("_root"."root.pg.id")))) AS "root"
  FROM (SELECT "_root.base"."id" AS "root.pg.id" FROM (SELECT * FROM "public"."links" WHERE ('true')) AS "_root.base") AS "_root";
EXECUTE q2('{"x-hasura-role":"admin"}');
