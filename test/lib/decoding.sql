-- Changes of every kind, for 013_decoding.pl: what a logical decoding plugin says of them must be the same on heap and on doublets.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint);
CREATE UNIQUE INDEX links_pair ON links (from_id, to_id);
CREATE TABLE three (id bigint PRIMARY KEY, source bigint, target bigint);
CREATE TABLE nokey (id bigint, source bigint, target bigint, type bigint);

INSERT INTO links VALUES (1, 1, 1, 1), (2, 1, 2, NULL), (3, NULL, NULL, NULL);
INSERT INTO links SELECT i, i, i + 1, i % 3 FROM generate_series(10, 500) i;
INSERT INTO links SELECT i, i, i + 1, i % 3 FROM generate_series(501, 505) i RETURNING id;
COPY links FROM stdin;
9223372036854775807	-1	\N	0
-9223372036854775808	\N	5	1
600	600	601	2
\.
UPDATE links SET type_id = 7 WHERE id = 1;
UPDATE links SET type_id = NULL WHERE id = 1;
UPDATE links SET id = 1000 WHERE id = 2;
UPDATE links SET id = id WHERE id = 3;
UPDATE links SET to_id = to_id + 1 WHERE id BETWEEN 10 AND 20;
DELETE FROM links WHERE id = 1000;
DELETE FROM links WHERE id = 11;
INSERT INTO links VALUES (12, 0, 0, 9) ON CONFLICT (id) DO UPDATE SET type_id = excluded.type_id;
INSERT INTO links VALUES (700, 700, 0, 9) ON CONFLICT (id) DO UPDATE SET type_id = 1;
INSERT INTO links VALUES (701, 700, 0, 9) ON CONFLICT DO NOTHING;
INSERT INTO links VALUES (702, 702, 0, 9) ON CONFLICT DO NOTHING;
MERGE INTO links t USING (VALUES (12, 3), (703, 4)) v(id, type) ON t.id = v.id
WHEN MATCHED THEN UPDATE SET type_id = v.type WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.id, 0, v.type);
SELECT id FROM links WHERE id = 12 FOR UPDATE;

BEGIN;
INSERT INTO links VALUES (800, 800, 0, 0);
SAVEPOINT a;
INSERT INTO links VALUES (801, 801, 0, 0);
DELETE FROM links WHERE id = 800;
ROLLBACK TO a;
SAVEPOINT b;
INSERT INTO links VALUES (802, 802, 0, 0);
RELEASE b;
UPDATE links SET type_id = 5 WHERE id IN (800, 802);
COMMIT;
BEGIN;
INSERT INTO links VALUES (900, 900, 0, 0);
ROLLBACK;
BEGIN;
INSERT INTO links VALUES (901, 901, 0, 0);
UPDATE links SET type_id = 1 WHERE id = 901;
PREPARE TRANSACTION 'p';
COMMIT PREPARED 'p';
BEGIN;
INSERT INTO links VALUES (902, 902, 0, 0);
PREPARE TRANSACTION 'q';
ROLLBACK PREPARED 'q';

-- replica identities
ALTER TABLE links REPLICA IDENTITY FULL;
UPDATE links SET type_id = 8 WHERE id IN (3, 12);
UPDATE links SET id = 4 WHERE id = 3;
DELETE FROM links WHERE id IN (4, 13);
ALTER TABLE links REPLICA IDENTITY NOTHING;
UPDATE links SET type_id = 8, id = 1012 WHERE id = 12;
DELETE FROM links WHERE id = 1012;
DELETE FROM links WHERE from_id IS NULL OR to_id IS NULL;
ALTER TABLE links ALTER from_id SET NOT NULL, ALTER to_id SET NOT NULL;
ALTER TABLE links REPLICA IDENTITY USING INDEX links_pair;
UPDATE links SET type_id = 8 WHERE id = 14;
UPDATE links SET from_id = 1014 WHERE id = 14;
UPDATE links SET id = 1014 WHERE id = 14;
DELETE FROM links WHERE id IN (1014, 15);
ALTER TABLE links REPLICA IDENTITY DEFAULT;

-- three columns; no key
INSERT INTO three VALUES (1, 2, 3), (2, NULL, NULL);
UPDATE three SET target = 5;
UPDATE three SET id = id + 10;
DELETE FROM three;
INSERT INTO nokey VALUES (1, 2, 3, 4), (1, 2, 3, 4);
UPDATE nokey SET type = 5;
DELETE FROM nokey;
ALTER TABLE nokey REPLICA IDENTITY FULL;
INSERT INTO nokey VALUES (NULL, NULL, NULL, NULL), (1, NULL, 3, 4);
UPDATE nokey SET type = 6;
DELETE FROM nokey;

-- what moves rows without changing them
VACUUM FULL links;
CLUSTER links USING links_pkey;
VACUUM (FREEZE) links;
ALTER TABLE links ALTER type_id SET DEFAULT 3;
BEGIN;
ALTER TABLE links ALTER from_id DROP NOT NULL;
INSERT INTO links (id) VALUES (1100);
ALTER TABLE links SET UNLOGGED;
INSERT INTO links (id, from_id) VALUES (1101, 1101);
ALTER TABLE links SET LOGGED;
INSERT INTO links (id, from_id) VALUES (1102, 1102);
COMMIT;
UPDATE links SET type_id = 1 WHERE id = 1101;
CREATE UNLOGGED TABLE silent (id bigint PRIMARY KEY, source bigint, target bigint);
INSERT INTO silent VALUES (1, 2, 3);
CREATE TEMP TABLE own (id bigint PRIMARY KEY, source bigint, target bigint);
INSERT INTO own VALUES (1, 2, 3);
CREATE TABLE copied AS SELECT id, from_id, to_id, type_id FROM links WHERE id < 16;
BEGIN;
CREATE TABLE fresh (id bigint PRIMARY KEY, source bigint, target bigint);
COPY fresh FROM stdin WITH (FREEZE);
1	2	3
4	5	6
\.
UPDATE fresh SET target = 4 WHERE id = 1;
COMMIT;
TRUNCATE links;
TRUNCATE links, three RESTART IDENTITY CASCADE;

-- partitions: a row that moves
CREATE TABLE parts (id bigint, source bigint, target bigint, type bigint) PARTITION BY LIST (type);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
ALTER TABLE parts_1 ADD PRIMARY KEY (id);
INSERT INTO parts VALUES (1, 1, 1, 1), (2, 2, 2, 2);
UPDATE parts SET type = 2 WHERE id = 1;
