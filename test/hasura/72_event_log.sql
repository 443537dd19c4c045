-- what the triggers log, and how it is taken
BEGIN;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
INSERT INTO links (id, type_id) SELECT i, 1 FROM generate_series(910000, 910999) i;
UPDATE links SET to_id = to_id + 1 WHERE id BETWEEN 910000 AND 910499;
UPDATE links SET to_id = to_id WHERE id BETWEEN 910500 AND 910600;
DELETE FROM links WHERE id BETWEEN 910000 AND 910099;
COMMIT;
SELECT payload ->> 'op', count(*), count(payload -> 'session_variables') FROM hdb_catalog.event_log GROUP BY 1 ORDER BY 1;
SELECT payload -> 'data' FROM hdb_catalog.event_log WHERE payload ->> 'op' = 'UPDATE' ORDER BY id LIMIT 1;
UPDATE hdb_catalog.event_log SET locked = '2020-01-01' WHERE id IN (SELECT l.id FROM hdb_catalog.event_log l WHERE NOT l.delivered AND NOT l.error AND l.locked IS NULL
  ORDER BY l.id LIMIT 3 FOR UPDATE SKIP LOCKED) RETURNING payload ->> 'op';
