-- :n links (20,000 or more): five types, a third of them nodes that connect nothing, the others between the first 1,000.
INSERT INTO links (id, from_id, to_id, type_id) VALUES (1, 0, 0, 1), (2, 0, 0, 1), (3, 0, 0, 1), (4, 0, 0, 1), (5, 1, 1, 1);
INSERT INTO links (id, from_id, to_id, type_id)
  SELECT i, CASE WHEN i % 3 = 0 THEN 0 ELSE 1 + (i * 7919 + i / 1000) % least(i - 1, 1000) END,
            CASE WHEN i % 3 = 0 THEN 0 ELSE 1 + (i * 104729 + i / 777) % least(i - 1, 1000) END, 1 + i % 5
  FROM generate_series(6, :n::bigint) i;
SELECT setval('links_id_seq', (SELECT max(id) FROM links)) > 0 AS sequence_set;
INSERT INTO strings (link_id, value) SELECT i, 'name ' || i FROM generate_series(4, 20000, 4) i;
INSERT INTO numbers (link_id, value) SELECT i, i FROM generate_series(5, 20000, 4) i;
INSERT INTO can SELECT i, 380, 40 FROM generate_series(2, 20000, 2) i;
INSERT INTO storage.files (name, link_id) SELECT 'file ' || i, i FROM generate_series(19000, 19010) i;
ANALYZE;
