-- Hasura's event trigger "links" on the table; after the seed, whose rows would all be logged.
CREATE TRIGGER "notify_hasura_links_INSERT" AFTER INSERT ON public.links FOR EACH ROW EXECUTE FUNCTION hdb_catalog.log_links();
CREATE TRIGGER "notify_hasura_links_UPDATE" AFTER UPDATE ON public.links FOR EACH ROW EXECUTE FUNCTION hdb_catalog.log_links();
CREATE TRIGGER "notify_hasura_links_DELETE" AFTER DELETE ON public.links FOR EACH ROW EXECUTE FUNCTION hdb_catalog.log_links();
