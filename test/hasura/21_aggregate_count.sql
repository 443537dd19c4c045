-- links_aggregate { aggregate { count } }
PREPARE q(json) AS
SELECT json_build_object('aggregate', json_build_object('count', COUNT(*))) AS "root"
  FROM (SELECT 1 FROM (SELECT * FROM "public"."links" WHERE ('true')) AS "_root.base") AS "_root";
EXECUTE q('{"x-hasura-role":"admin"}');
PREPARE q2(json, bigint) AS
SELECT json_build_object('aggregate', json_build_object('count', COUNT(*))) AS "root"
  FROM (SELECT 1 FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."type_id") = (($2)::bigint))) AS "_root.base") AS "_root";
EXECUTE q2('{"x-hasura-role":"admin"}', 2);
EXECUTE q2('{"x-hasura-role":"admin"}', 9);
PREPARE q3(json, bigint) AS
SELECT json_build_object('aggregate', json_build_object('count', COUNT(*))) AS "root"
  FROM (SELECT 1 FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."from_id") = (($2)::bigint))) AS "_root.base") AS "_root";
EXECUTE q3('{"x-hasura-role":"admin"}', 0);
EXECUTE q3('{"x-hasura-role":"admin"}', 1);
