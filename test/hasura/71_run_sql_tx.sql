-- run_sql with DDL, in a transaction that is undone
BEGIN;
SAVEPOINT ours;
DROP FUNCTION hdb_catalog.log_links() CASCADE;
COMMENT ON TABLE public.links IS 'a comment';
CREATE INDEX more ON links (to_id, from_id);
UPDATE links SET to_id = 1 WHERE id = 30;
SELECT string_agg(DISTINCT mode, ',' ORDER BY mode) FROM pg_locks WHERE relation = 'public.links'::regclass AND pid = pg_backend_pid();
ROLLBACK TO ours;
UPDATE links SET to_id = 2 WHERE id = 30;
COMMIT;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'links'::regclass AND NOT tgisinternal;
SELECT count(*) FROM pg_index WHERE indrelid = 'links'::regclass;
