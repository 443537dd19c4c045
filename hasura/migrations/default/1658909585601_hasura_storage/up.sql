-- Files: the one table with a foreign key that references links.
CREATE SCHEMA IF NOT EXISTS storage;
CREATE TABLE storage.buckets (
  id text NOT NULL PRIMARY KEY,
  max_upload_file_size int NOT NULL DEFAULT 50000000
);
CREATE TABLE storage.files (
  id uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
  link_id bigint UNIQUE,
  bucket_id text NOT NULL DEFAULT 'default',
  name text,
  size int,
  mime_type text,
  CONSTRAINT fk_bucket FOREIGN KEY (bucket_id) REFERENCES storage.buckets (id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT fk_link FOREIGN KEY (link_id) REFERENCES public.links (id) ON UPDATE CASCADE ON DELETE CASCADE
);
INSERT INTO storage.buckets (id) VALUES ('default');
