-- Deep's bool_exp: a statement as text, wrapped and executed
CREATE FUNCTION count_of(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN EXECUTE 'SELECT json_array_length("root") FROM (' || statement || ') AS t' INTO n; RETURN n; END $$;
SELECT count_of($q$ SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."type_id") = (('1')::bigint))) AS "_root.base") AS "_root" $q$);
SELECT count_of($q$ SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."from_id") = (('1')::bigint)) AND (("public"."links"."to_id") = (('3')::bigint)))) AS "_root.base") AS "_root" $q$);
