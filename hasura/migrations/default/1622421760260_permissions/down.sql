DROP TRIGGER links__permissions__delete_links__trigger ON links;
DROP TRIGGER links__permissions__insert_links__trigger ON links;
DROP FUNCTION links__permissions__delete_links__function();
DROP FUNCTION links__permissions__insert_links__function();
DROP FUNCTION links__check_rules(bigint, bigint, bigint);
