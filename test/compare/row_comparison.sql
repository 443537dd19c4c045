-- Row comparisons, which native indexes serve by their first column.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint);
CREATE INDEX ON links (from_id, to_id);
CREATE INDEX ON links (to_id DESC NULLS FIRST, from_id DESC NULLS FIRST);
CREATE INDEX ON links (type_id, id);
CREATE INDEX ON links (type_id);
INSERT INTO links SELECT i, i / 7, i % 40, i % 5 FROM generate_series(1, 2000) i;
INSERT INTO links VALUES (3000, NULL, 1, 1), (3001, 5, NULL, 1), (3002, NULL, NULL, NULL),
	(9223372036854775807, 9223372036854775807, 1, 1), (-9223372036854775808, -9223372036854775808, -1, 0);
ANALYZE links;

\echo == pages by key
SELECT * FROM links WHERE (from_id, to_id) > (100, 20) ORDER BY from_id, to_id, id LIMIT 5;
SELECT * FROM links WHERE (from_id, to_id) < (100, 20) ORDER BY from_id DESC, to_id DESC, id LIMIT 5;
SELECT * FROM links WHERE (to_id, from_id) <= (3, 100) ORDER BY to_id DESC, from_id DESC, id LIMIT 5;
SELECT * FROM links WHERE (type_id, id) >= (3, 1990) ORDER BY type_id, id LIMIT 10;
SELECT * FROM links WHERE (type_id, id) > (4, 1000) ORDER BY type_id, id LIMIT 3 OFFSET 2;
SELECT * FROM links WHERE (id, from_id) > (1998, 0) ORDER BY id;

\echo == every operator, either side, other integer types
SELECT count(*) FROM links WHERE (from_id, to_id) < (5, 38);
SELECT count(*) FROM links WHERE (from_id, to_id) <= (5, 38);
SELECT count(*) FROM links WHERE (from_id, to_id) > (5, 38);
SELECT count(*) FROM links WHERE (from_id, to_id) >= (5, 38);
SELECT count(*) FROM links WHERE (from_id, to_id) = (5, 38);
SELECT count(*) FROM links WHERE (from_id, to_id) <> (5, 38);
SELECT count(*) FROM links WHERE (5::int, 38::smallint) < (from_id, to_id);
SELECT count(*) FROM links WHERE (5::smallint, 38) >= (from_id, to_id);
SELECT count(*) FROM links WHERE (from_id, to_id, type_id) > (5, 38, 1) AND from_id < 9;
SELECT count(*) FROM links WHERE (from_id, to_id) > (5, NULL);
SELECT count(*) FROM links WHERE (from_id, to_id) > (NULL, 5);
SELECT count(*) FROM links WHERE (from_id, to_id) >= (9223372036854775807, 1);
SELECT count(*) FROM links WHERE (from_id, to_id) <= (-9223372036854775808, -1);
SELECT count(*) FROM links WHERE (from_id, to_id) > (from_id, 20) AND (id, 1) > (to_id, 0);
SELECT count(*) FROM links WHERE (from_id, to_id) > (1, 2) AND (from_id, to_id) < (3, 4) AND (type_id, id) > (2, 0);
SELECT count(*) FROM links WHERE (from_id, to_id) > (280, 0) OR (id, to_id) < (4, 0);
SELECT count(*) FROM links WHERE NOT (from_id, to_id) > (10, 2);

\echo == parameters, joins, subqueries, rows under a view
PREPARE page (bigint, bigint) AS SELECT id FROM links WHERE (from_id, to_id) > ($1, $2) ORDER BY from_id, to_id, id LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE page (20, 3);
EXECUTE page (NULL, 3);
RESET plan_cache_mode;
SELECT a.id, b.id FROM links a JOIN LATERAL (SELECT * FROM links b WHERE (b.from_id, b.to_id) > (a.from_id, a.to_id) ORDER BY b.from_id, b.to_id, b.id LIMIT 1) b ON true WHERE a.id BETWEEN 10 AND 15 ORDER BY 1;
SELECT a.id, (SELECT count(*) FROM links b WHERE (b.type_id, b.id) > (a.type_id, a.id)) FROM links a WHERE a.id IN (1, 1000, 2000) ORDER BY 1;
CREATE VIEW some AS SELECT * FROM links WHERE type_id <> 2 WITH CHECK OPTION;
SELECT * FROM some WHERE (from_id, to_id) > (100, 20) ORDER BY from_id, to_id, id LIMIT 3;
CREATE VIEW careful WITH (security_barrier) AS SELECT * FROM links WHERE type_id <> 2;
SELECT * FROM careful WHERE (from_id, to_id) > (100, 20) ORDER BY from_id, to_id, id LIMIT 3;
UPDATE links SET type_id = 7 WHERE (from_id, to_id) > (280, 0);
DELETE FROM links WHERE (id, to_id) <= (3, 3);
SELECT count(*), sum(type_id) FROM links;

\echo == by every kind of scan
SET enable_seqscan = off;
SELECT count(*) FROM links WHERE (from_id, to_id) > (5, 38);
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM links WHERE (from_id, to_id) > (5, 38);
SELECT count(*) FROM links WHERE (from_id, to_id) > (5, 38) AND (type_id, id) > (2, 0);
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SELECT count(*) FROM links WHERE (from_id, to_id) > (5, 38);
SELECT from_id, count(*) FROM links WHERE (from_id, to_id) > (270, 3) GROUP BY 1 ORDER BY 1 LIMIT 3;
