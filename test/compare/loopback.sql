-- The table from outside: postgres_fdw and dblink, both back to this server.
\set QUIET off
SELECT count(*) = 2 AS there FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'dblink') \gset
\if :there
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 5, to_id bigint DEFAULT 6, type_id bigint NOT NULL DEFAULT 7);
CREATE INDEX ON links (from_id);
CREATE INDEX ON links (to_id, type_id);
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 1000) i;
ANALYZE links;
SELECT split_part(current_setting('unix_socket_directories'), ',', 1) AS host, current_setting('port') AS port, current_database() AS db, current_user AS who \gset
CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'host', port :'port', dbname :'db', use_remote_estimate 'true', fetch_size '7');
CREATE USER MAPPING FOR CURRENT_USER SERVER loop OPTIONS (user :'who');
CREATE FOREIGN TABLE remote (id bigint, from_id bigint, to_id bigint, type_id bigint) SERVER loop OPTIONS (table_name 'links');
\echo == postgres_fdw: read
SELECT count(*), sum(id) FROM remote;
SELECT * FROM remote WHERE id = 5;
SELECT count(*), sum(id) FROM remote WHERE from_id = 3;
SELECT id FROM remote WHERE to_id = 3 AND type_id = 1 ORDER BY id LIMIT 5;
SELECT count(*), sum(r.id) FROM remote r JOIN links l ON l.id = r.from_id;
SELECT count(*), sum(a.id) FROM remote a JOIN remote b ON a.id = b.from_id;
SELECT type_id, count(*) FROM remote GROUP BY 1 ORDER BY 1;
SELECT l.id FROM links l WHERE EXISTS (SELECT 1 FROM remote r WHERE r.id = l.to_id AND r.type_id = 1) ORDER BY 1 LIMIT 3;
SELECT ctid IS NOT NULL, tableoid::regclass FROM remote WHERE id = 5;
SELECT id FROM remote WHERE id < 4 ORDER BY id FOR UPDATE;
ANALYZE remote;
SELECT reltuples FROM pg_class WHERE oid = 'remote'::regclass;
\echo == postgres_fdw: write
INSERT INTO remote VALUES (2001, 1, 1, 1), (2002, 1, 1, 1) RETURNING *;
INSERT INTO remote (id) VALUES (2003) RETURNING *;
INSERT INTO remote VALUES (2001, 1, 1, 1);
INSERT INTO remote VALUES (2001, 1, 1, 1) ON CONFLICT DO NOTHING;
INSERT INTO remote VALUES (2001, 1, 1, 1) ON CONFLICT (id) DO NOTHING;
UPDATE remote SET to_id = to_id + 1 WHERE id > 2000 RETURNING id, to_id;
UPDATE remote r SET to_id = l.from_id FROM links l WHERE l.id = 7 AND r.id = 2002 RETURNING r.*;
UPDATE remote SET to_id = to_id + random()::bigint * 0 WHERE from_id = 3;
DELETE FROM remote WHERE id = 2001 RETURNING *;
DELETE FROM remote USING links l WHERE remote.id = l.id AND l.id BETWEEN 10 AND 12 RETURNING remote.id;
COPY remote FROM STDIN;
2010	1	1	1
2011	1	1	1
\.
ALTER FOREIGN TABLE remote OPTIONS (ADD batch_size '50');
INSERT INTO remote SELECT i, 1, 1, 1 FROM generate_series(3001, 3200) i;
BEGIN;
UPDATE remote SET to_id = 500 WHERE id = 3001;
SAVEPOINT a;
DELETE FROM remote WHERE id > 3100;
SELECT count(*) FROM remote WHERE id > 3000;
ROLLBACK TO a;
SELECT count(*) FROM remote WHERE id > 3000;
SELECT count(*) FROM links WHERE to_id = 500;
COMMIT;
SELECT count(*) FROM links WHERE to_id = 500;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM remote WHERE id > 3000 ORDER BY id;
FETCH 3 FROM c;
FETCH 10 FROM c;
UPDATE remote SET to_id = 501 WHERE CURRENT OF c;
ROLLBACK;
TRUNCATE remote;
SELECT count(*) FROM links;
INSERT INTO links SELECT i, i % 10, i % 7, i % 3 FROM generate_series(1, 1000) i;
\echo == both ends in one transaction
BEGIN;
INSERT INTO links VALUES (5001, 1, 1, 1);
SELECT count(*) FROM remote WHERE id = 5001;
INSERT INTO remote VALUES (5002, 1, 1, 1);
SELECT count(*) FROM links WHERE id = 5002;
COMMIT;
SELECT count(*) FROM links WHERE id > 5000;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM links;
SELECT count(*) FROM remote;
INSERT INTO remote VALUES (5003, 1, 1, 1);
SELECT count(*) FROM links;
SELECT count(*) FROM remote;
COMMIT;
\echo == a partition that is elsewhere, and one that is here
CREATE TABLE parts (id bigint, from_id bigint, to_id bigint, type_id bigint) PARTITION BY LIST (type_id);
CREATE TABLE here PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE there2 (id bigint, from_id bigint, to_id bigint, type_id bigint);
CREATE FOREIGN TABLE there PARTITION OF parts FOR VALUES IN (2) SERVER loop OPTIONS (table_name 'there2');
INSERT INTO parts SELECT i, i, i, i % 2 + 1 FROM generate_series(1, 20) i;
UPDATE parts SET type_id = 2 WHERE id < 5 AND type_id = 1;
SELECT tableoid::regclass::text, count(*), sum(id) FROM parts GROUP BY 1 ORDER BY 1;
SET enable_partitionwise_aggregate = on;
SELECT type_id, count(*) FROM parts GROUP BY 1 ORDER BY 1;
IMPORT FOREIGN SCHEMA public LIMIT TO (here) FROM SERVER loop INTO public;
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA public LIMIT TO (links, here) FROM SERVER loop INTO imported;
SELECT count(*) FROM imported.links;
\d imported.links
\echo == dblink
SELECT format('host=%s port=%s dbname=%s user=%s', :'host', :'port', :'db', :'who') AS conn \gset
SELECT * FROM dblink(:'conn', 'SELECT count(*), sum(id) FROM links WHERE from_id = 3') AS t (n bigint, s numeric);
SELECT dblink_connect('a', :'conn');
SELECT dblink_connect('b', :'conn');
SELECT dblink_exec('a', 'BEGIN');
SELECT dblink_exec('a', 'UPDATE links SET to_id = 900 WHERE id = 7');
SELECT * FROM dblink('a', 'SELECT to_id FROM links WHERE id = 7') AS t (n bigint);
SELECT to_id FROM links WHERE id = 7;
SELECT id FROM links WHERE id = 7 FOR UPDATE NOWAIT;
SELECT id FROM links WHERE id IN (7, 8) ORDER BY id FOR UPDATE SKIP LOCKED;
SELECT dblink_send_query('b', 'UPDATE links SET to_id = to_id + 1 WHERE id = 7 RETURNING to_id');
SELECT dblink_is_busy('b');
SELECT dblink_exec('a', 'COMMIT');
SELECT * FROM dblink_get_result('b') AS t (n bigint);
SELECT * FROM dblink_get_result('b') AS t (n bigint);
SELECT to_id FROM links WHERE id = 7;
SELECT dblink_open('a', 'cur', 'SELECT id FROM links WHERE from_id = 3 ORDER BY id');
SELECT * FROM dblink_fetch('a', 'cur', 2) AS t (id bigint);
DELETE FROM links WHERE from_id = 3 AND id > 20;
SELECT * FROM dblink_fetch('a', 'cur', 2) AS t (id bigint);
SELECT dblink_close('a', 'cur');
SELECT dblink_exec('a', 'INSERT INTO links VALUES (7, 1, 1, 1)', false);
SELECT dblink_disconnect('a'), dblink_disconnect('b');
DROP TABLE links, there2, parts CASCADE;
\endif
