-- The materialized path of trees: for each place (position) that an item has in a tree (group), one row for each
-- link on the way from the root to the item.  A tree names by links of its own what belongs to it: TreeIncludeNode
-- the types whose links are nodes, TreeIncludeDown the types whose links lead from parent to child.
CREATE TABLE public."mp" (
  id bigint PRIMARY KEY,
  item_id bigint,
  path_item_id bigint,
  path_item_depth bigint,
  root_id bigint,
  position_id text DEFAULT gen_random_uuid(),
  group_id bigint,
  insert_category text
);
CREATE SEQUENCE mp_id_seq AS bigint START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE mp_id_seq OWNED BY public."mp".id;
ALTER TABLE ONLY public."mp" ALTER COLUMN id SET DEFAULT nextval('mp_id_seq'::regclass);
CREATE INDEX mp__item_id_btree ON mp USING btree (item_id);
CREATE INDEX mp__path_item_id_btree ON mp USING btree (path_item_id);
CREATE INDEX mp__root_id_btree ON mp USING btree (root_id);
CREATE INDEX mp__position_id_btree ON mp USING btree (position_id);

-- The trees that a link of some type belongs to, and in what part.
CREATE FUNCTION mp__groups(of_type bigint, part bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT DISTINCT l.from_id FROM links l WHERE l.type_id = part AND l.to_id IN (of_type, 8) $$;

-- A new place for an item: at the end of another one's place, or a root.
CREATE FUNCTION mp__place(item bigint, parent_position text, parent bigint, tree bigint, category text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  place text := gen_random_uuid();
BEGIN
  INSERT INTO mp (item_id, path_item_id, path_item_depth, root_id, position_id, group_id, insert_category)
    SELECT item, path_item_id, path_item_depth, root_id, place, tree, category FROM mp
    WHERE position_id = parent_position AND item_id = parent;
  INSERT INTO mp (item_id, path_item_id, path_item_depth, root_id, position_id, group_id, insert_category)
    SELECT item, item, count(*), coalesce(min(root_id), item), place, tree, category FROM mp
    WHERE position_id = parent_position AND item_id = parent;
  RETURN place;
END $$;

-- The places of a subtree again, below a place of another item.
CREATE FUNCTION mp__graft(top bigint, parent_position text, parent bigint, tree bigint, category text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  place text;
  lower record;
BEGIN
  IF EXISTS (SELECT 1 FROM mp WHERE position_id = parent_position AND item_id = parent AND path_item_id = top) THEN
    RAISE EXCEPTION 'recursion detected for link #%', top;
  END IF;
  place := mp__place(top, parent_position, parent, tree, category);
  FOR lower IN
    SELECT l.id FROM links l WHERE l.from_id = top AND l.id <> top AND l.type_id IN
      (SELECT i.to_id FROM links i WHERE i.from_id = tree AND i.type_id = 32) ORDER BY l.id
  LOOP
    PERFORM mp__graft(lower.id, place, top, tree, category);
  END LOOP;
  FOR lower IN
    SELECT l.to_id AS id FROM links l WHERE l.id = top AND l.to_id <> 0 AND l.to_id <> top AND l.type_id IN
      (SELECT i.to_id FROM links i WHERE i.from_id = tree AND i.type_id = 32)
      AND EXISTS (SELECT 1 FROM mp WHERE item_id = l.to_id AND group_id = tree)
  LOOP
    PERFORM mp__graft(lower.id, place, top, tree, category);
  END LOOP;
END $$;

CREATE FUNCTION mp__insert_link__function() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  tree bigint;
  parent record;
  category text := gen_random_uuid();
BEGIN
  FOR tree IN SELECT mp__groups(NEW.type_id, 32) ORDER BY 1 LOOP
    FOR parent IN
      SELECT DISTINCT position_id FROM mp WHERE item_id = NEW.from_id AND group_id = tree ORDER BY 1
    LOOP
      PERFORM mp__graft(NEW.id, parent.position_id, NEW.from_id, tree, category);
    END LOOP;
    IF NOT EXISTS (SELECT 1 FROM mp WHERE item_id = NEW.id AND group_id = tree) THEN
      PERFORM mp__graft(NEW.id, NULL, NULL, tree, category);
    END IF;
    -- what has a parent now is a root no more
    DELETE FROM mp WHERE group_id = tree AND root_id = NEW.to_id AND NEW.to_id <> 0 AND insert_category <> category;
  END LOOP;
  FOR tree IN SELECT mp__groups(NEW.type_id, 31) ORDER BY 1 LOOP
    IF NOT EXISTS (SELECT 1 FROM mp WHERE item_id = NEW.id AND group_id = tree) THEN
      PERFORM mp__place(NEW.id, NULL, NULL, tree, category);
    END IF;
  END LOOP;
  RETURN NEW;
END $$;

CREATE FUNCTION mp__delete_link__function() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  tree bigint;
  orphan bigint;
  category text := gen_random_uuid();
BEGIN
  FOR tree IN SELECT DISTINCT group_id FROM mp WHERE item_id = OLD.id ORDER BY 1 LOOP
    DELETE FROM mp m USING mp through WHERE through.position_id = m.position_id AND through.item_id = m.item_id
      AND through.path_item_id = OLD.id AND through.group_id = tree;
    -- its child and its own down links are roots again where no other way leads to them
    FOR orphan IN
      SELECT l.id FROM links l WHERE (l.id = OLD.to_id OR l.from_id = OLD.id) AND l.id <> OLD.id
        AND NOT EXISTS (SELECT 1 FROM mp WHERE item_id = l.id AND group_id = tree)
        AND EXISTS (SELECT 1 FROM links i WHERE i.from_id = tree AND i.type_id IN (31, 32) AND i.to_id IN (l.type_id, 8))
      ORDER BY l.id
    LOOP
      PERFORM mp__graft(orphan, NULL, NULL, tree, category);
    END LOOP;
  END LOOP;
  RETURN OLD;
END $$;

CREATE TRIGGER mp__insert_link__trigger AFTER INSERT ON links FOR EACH ROW EXECUTE FUNCTION mp__insert_link__function();
CREATE TRIGGER mp__delete_link__trigger AFTER DELETE ON links FOR EACH ROW EXECUTE FUNCTION mp__delete_link__function();
