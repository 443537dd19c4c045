-- Plans: where heap reads an index, so does doublets.
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") = ('5')::bigint)) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."id") = ANY(('{3,5,7}')::bigint[]))) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."from_id") = ('8')::bigint)) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."to_id") = ('8')::bigint)) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."from_id") = ('8')::bigint) AND (("public"."links"."to_id") = ('9')::bigint))) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."id") > ('10')::bigint) AND (("public"."links"."id") < ('40')::bigint))) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE ((("public"."links"."id") = ('27')::bigint) OR (("public"."links"."id") = ('28')::bigint))) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT coalesce(json_agg("root"), '[]') AS "root"
  FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "public"."links" WHERE (("public"."links"."from_id") = ANY(('{3,5,7}')::bigint[]))) AS "_root.base") AS "_root";
EXPLAIN (COSTS OFF) SELECT * FROM links ORDER BY id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM links ORDER BY id DESC LIMIT 5;
EXPLAIN (COSTS OFF) SELECT max(id), min(id) FROM links;
EXPLAIN (COSTS OFF) SELECT * FROM links a JOIN links b ON b.id = a.from_id WHERE a.id = 7;
EXPLAIN (COSTS OFF) SELECT a.id, (SELECT count(*) FROM links o WHERE o.from_id = a.id) FROM links a WHERE a.id IN (1, 2, 3);
EXPLAIN (COSTS OFF) UPDATE links SET to_id = 1 WHERE id = 25;
EXPLAIN (COSTS OFF) DELETE FROM links WHERE id = 25;
EXPLAIN (COSTS OFF) SELECT * FROM links WHERE type_id = 1 AND id > 19990 ORDER BY id LIMIT 3;
EXPLAIN (COSTS OFF) SELECT 1 FROM ONLY links x WHERE id = 40 FOR KEY SHARE OF x;
