-- Which index the planner takes: the one that leads with the column of the condition, in whatever order they were made.
CREATE TABLE cost_links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint NOT NULL) USING doublets;
CREATE INDEX cost_out ON cost_links (from_id, to_id);
CREATE INDEX cost_in ON cost_links (to_id, from_id);
INSERT INTO cost_links SELECT i, i * 7919 % 2500, i * 104729 % 2500, 5 FROM generate_series(1, 10000) i;
VACUUM ANALYZE cost_links;
EXPLAIN (COSTS OFF) SELECT * FROM cost_links WHERE from_id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM cost_links WHERE to_id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM cost_links WHERE from_id IN (7, 8);
EXPLAIN (COSTS OFF) SELECT * FROM cost_links WHERE to_id IN (7, 8);
SET plan_cache_mode = force_generic_plan;
PREPARE by_source(bigint) AS SELECT * FROM cost_links WHERE from_id = $1;
PREPARE by_target(bigint) AS SELECT * FROM cost_links WHERE to_id = $1;
EXPLAIN (COSTS OFF) EXECUTE by_source(7);
EXPLAIN (COSTS OFF) EXECUTE by_target(7);
-- Joins, too.
EXPLAIN (COSTS OFF) SELECT * FROM cost_links a JOIN cost_links b ON b.from_id = a.to_id WHERE a.id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM cost_links a JOIN cost_links b ON b.to_id = a.from_id WHERE a.id = 7;
-- One index alone, the wrong way round, is no better than reading all; but both columns make it good.
DROP INDEX cost_in;
EXPLAIN (COSTS OFF) SELECT * FROM cost_links WHERE to_id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM cost_links WHERE to_id = 7 AND from_id = 8;
DROP TABLE cost_links;
