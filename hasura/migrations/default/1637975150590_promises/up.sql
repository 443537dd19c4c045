-- A promise for each change of a link whose type has a handler: links that triggers insert into the table that fired them.
CREATE FUNCTION links__promise(link_id bigint, link_type bigint, handle bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  promise bigint;
BEGIN
  IF EXISTS (SELECT 1 FROM links h WHERE h.from_id = link_type AND h.type_id = handle) THEN
    INSERT INTO links (type_id) VALUES (9) RETURNING id INTO promise;
    INSERT INTO links (type_id, from_id, to_id) VALUES (10, link_id, promise);
  END IF;
END $$;

CREATE FUNCTION links__promise__insert__function() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM links__promise(NEW.id, NEW.type_id, 29);
  RETURN NEW;
END $$;

CREATE FUNCTION links__promise__delete__function() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM links__promise(OLD.id, OLD.type_id, 33);
  RETURN OLD;
END $$;

CREATE TRIGGER z_links__promise__insert__trigger AFTER INSERT ON links FOR EACH ROW EXECUTE FUNCTION links__promise__insert__function();
CREATE TRIGGER z_links__promise__update__trigger AFTER UPDATE ON links FOR EACH ROW EXECUTE FUNCTION links__promise__insert__function();
CREATE TRIGGER z_links__promise__delete__trigger BEFORE DELETE ON links FOR EACH ROW EXECUTE FUNCTION links__promise__delete__function();
