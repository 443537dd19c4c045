-- Values of links.
CREATE TABLE public."strings" (id bigint PRIMARY KEY, link_id bigint, value text);
CREATE SEQUENCE strings_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE strings_id_seq OWNED BY public."strings".id;
ALTER TABLE ONLY public."strings" ALTER COLUMN id SET DEFAULT nextval('strings_id_seq'::regclass);
CREATE INDEX strings__id_hash ON strings USING hash (id);
CREATE INDEX strings__link_id_hash ON strings USING hash (link_id);
CREATE INDEX strings__link_id_btree ON strings USING btree (link_id);

CREATE TABLE public."numbers" (id bigint PRIMARY KEY, link_id bigint, value numeric);
CREATE SEQUENCE numbers_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE numbers_id_seq OWNED BY public."numbers".id;
ALTER TABLE ONLY public."numbers" ALTER COLUMN id SET DEFAULT nextval('numbers_id_seq'::regclass);
CREATE INDEX numbers__id_hash ON numbers USING hash (id);
CREATE INDEX numbers__link_id_hash ON numbers USING hash (link_id);
CREATE INDEX numbers__link_id_btree ON numbers USING btree (link_id);

CREATE TABLE public."objects" (id bigint PRIMARY KEY, link_id bigint, value jsonb);
CREATE SEQUENCE objects_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE objects_id_seq OWNED BY public."objects".id;
ALTER TABLE ONLY public."objects" ALTER COLUMN id SET DEFAULT nextval('objects_id_seq'::regclass);
CREATE INDEX objects__id_hash ON objects USING hash (id);
CREATE INDEX objects__link_id_hash ON objects USING hash (link_id);
CREATE INDEX objects__link_id_btree ON objects USING btree (link_id);

-- Conditions, as SQL text that takes the link and the user.
CREATE TABLE public."bool_exp" (id bigint PRIMARY KEY, link_id bigint, value text);
CREATE SEQUENCE bool_exp_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE bool_exp_id_seq OWNED BY public."bool_exp".id;
ALTER TABLE ONLY public."bool_exp" ALTER COLUMN id SET DEFAULT nextval('bool_exp_id_seq'::regclass);
CREATE INDEX bool_exp__link_id_btree ON bool_exp USING btree (link_id);

INSERT INTO links__tables (name) VALUES ('strings'), ('numbers'), ('objects'), ('bool_exp');

-- The computed field "value": the row that holds it, whatever its table.
CREATE FUNCTION links__value__function(link links) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  found jsonb;
BEGIN
  SELECT to_jsonb(s) INTO found FROM strings s WHERE s.link_id = link.id ORDER BY s.id LIMIT 1;
  IF found IS NULL THEN
    SELECT to_jsonb(n) INTO found FROM numbers n WHERE n.link_id = link.id ORDER BY n.id LIMIT 1;
  END IF;
  IF found IS NULL THEN
    SELECT to_jsonb(o) INTO found FROM objects o WHERE o.link_id = link.id ORDER BY o.id LIMIT 1;
  END IF;
  RETURN found;
END $$;
