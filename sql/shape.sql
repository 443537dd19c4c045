-- Which tables are links tables, and which are refused.
CREATE TABLE ok3 (a bigint, b bigint, c bigint) USING doublets;
CREATE TABLE ok4 (a bigint PRIMARY KEY, b int8 NOT NULL DEFAULT 5, c bigint CHECK (c > 0), d bigint) USING doublets;
CREATE TABLE two (a bigint, b bigint) USING doublets;
CREATE TABLE five (a bigint, b bigint, c bigint, d bigint, e bigint) USING doublets;
CREATE TABLE none () USING doublets;
CREATE TABLE texts (a bigint, b text, c bigint) USING doublets;
CREATE TABLE ints (a integer, b bigint, c bigint) USING doublets;
CREATE TABLE made (a bigint, b bigint, c bigint GENERATED ALWAYS AS (a + b) STORED) USING doublets;
CREATE TABLE q USING doublets AS SELECT 1 AS a, 2 AS b, 3 AS c;
CREATE TABLE q USING doublets AS SELECT 1::bigint AS a, 2::bigint AS b, 3::bigint AS c;
SELECT * FROM q;
CREATE TABLE identity (a bigint GENERATED ALWAYS AS IDENTITY, b bigint, c bigint) USING doublets;
INSERT INTO identity (b, c) VALUES (1, 2), (3, 4) RETURNING *;
ALTER TABLE ok3 ADD COLUMN d bigint;
ALTER TABLE ok4 ADD COLUMN e bigint;
ALTER TABLE ok4 DROP COLUMN d;
ALTER TABLE ok4 ALTER COLUMN d TYPE text;
ALTER TABLE ok4 ALTER COLUMN d TYPE integer;
\d ok3
\d ok4
CREATE TABLE h (a bigint, b bigint, c bigint, gone text);
ALTER TABLE h SET ACCESS METHOD doublets;
ALTER TABLE h DROP COLUMN gone;
ALTER TABLE h SET ACCESS METHOD doublets;
DROP TABLE ok3, ok4, q, identity, h;
-- What is not a plain row of a links table.
CREATE TABLE t (id bigint, a bigint, b bigint) USING doublets WITH (fillfactor = 50);
CREATE TABLE t (id bigint, a bigint, b bigint) USING doublets;
INSERT INTO t VALUES ('x', 1, 2);
INSERT INTO t VALUES (9223372036854775808, 1, 2);
INSERT INTO t VALUES (1, 2, 3, 4);
DROP TABLE IF EXISTS t;
