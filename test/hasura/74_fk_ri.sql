-- the foreign key that references links
INSERT INTO storage.files (name, link_id) VALUES ('x', 40);
INSERT INTO storage.files (name, link_id) VALUES ('y', -40);
SELECT 1 FROM ONLY "public"."links" x WHERE "id" OPERATOR(pg_catalog.=) 40 FOR KEY SHARE OF x;
UPDATE links SET id = 910040 WHERE id = 40;
SELECT link_id FROM storage.files WHERE name = 'x';
BEGIN;
DELETE FROM links WHERE id = 910040;
SELECT count(*) FROM storage.files WHERE name = 'x';
ROLLBACK;
SELECT count(*) FROM storage.files WHERE name = 'x';
DELETE FROM links WHERE id = 910040;
SELECT count(*) FROM storage.files WHERE name = 'x';
ALTER TABLE storage.files DROP CONSTRAINT files_link_id_fkey;
ALTER TABLE storage.files ADD FOREIGN KEY (link_id) REFERENCES links (id);
DELETE FROM links WHERE id = 19002;
