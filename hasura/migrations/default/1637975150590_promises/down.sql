DROP TRIGGER z_links__promise__delete__trigger ON links;
DROP TRIGGER z_links__promise__update__trigger ON links;
DROP TRIGGER z_links__promise__insert__trigger ON links;
DROP FUNCTION links__promise__delete__function();
DROP FUNCTION links__promise__insert__function();
DROP FUNCTION links__promise(bigint, bigint, bigint);
