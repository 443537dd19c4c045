-- The extension goes, with what uses it.
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint) USING doublets;
DROP EXTENSION pg_doublets;
DROP TABLE links;
DROP EXTENSION pg_doublets;
SELECT count(*) FROM pg_am WHERE amname LIKE 'doublets%';
