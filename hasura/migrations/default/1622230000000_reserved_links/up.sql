-- Reserved links: ids given out beforehand, as links of type 0 that the real link replaces.
CREATE TABLE public."reserved" (id bigint PRIMARY KEY, created_at timestamp, reserved_ids jsonb, user_id bigint);
CREATE SEQUENCE reserved_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE reserved_id_seq OWNED BY public."reserved".id;
ALTER TABLE ONLY public."reserved" ALTER COLUMN id SET DEFAULT nextval('reserved_id_seq'::regclass);

CREATE FUNCTION links__reserved__instead_of_insert__function() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM reserved r, links l
             WHERE r.reserved_ids @> to_jsonb(NEW.id) AND l.id = NEW.id AND l.type_id = 0) THEN
    DELETE FROM links WHERE id = NEW.id;
  ELSIF NEW.id > (SELECT last_value FROM links_id_seq) THEN
    RAISE EXCEPTION 'Illegal insert link with custom id { id: %, type_id: %, from_id: %, to_id: % }',
      NEW.id, NEW.type_id, NEW.from_id, NEW.to_id
      USING HINT = 'Use reserve action before inserting link with id';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER links__reserved__instead_of_insert__trigger BEFORE INSERT ON links FOR EACH ROW
  WHEN (pg_trigger_depth() < 1 AND NEW.type_id <> 0)
  EXECUTE FUNCTION links__reserved__instead_of_insert__function();

-- What Deep's action "reserve" does.
CREATE FUNCTION links__reserve(amount int, for_user bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
BEGIN
  WITH made AS (INSERT INTO links (type_id) SELECT 0 FROM generate_series(1, amount) RETURNING id)
    SELECT array_agg(id ORDER BY id) INTO ids FROM made;
  INSERT INTO reserved (created_at, reserved_ids, user_id) VALUES (now(), to_jsonb(ids), for_user);
  RETURN ids;
END $$;
