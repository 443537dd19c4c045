DROP TABLE storage.files;
DROP TABLE storage.buckets;
DROP SCHEMA storage;
