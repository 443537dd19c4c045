-- The rules' conditions, and the types of ends, are checked by triggers.
CREATE FUNCTION links__check_rules(link_id bigint, type bigint, action bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  user_id bigint := nullif(current_setting('hasura.user', true), '')::json ->> 'x-hasura-user-id';
  condition record;
BEGIN
  IF user_id IS NULL THEN
    RETURN;
  END IF;
  FOR condition IN
    SELECT DISTINCT s.selector_id, s.bool_exp_id FROM can c, links o, selectors s
    WHERE c.object_id = type AND c.subject_id = user_id AND c.action_id = action
      AND o.type_id = 19 AND o.from_id = c.rule_id AND s.selector_id = o.to_id AND s.item_id = type
      AND s.bool_exp_id IS NOT NULL
  LOOP
    IF bool_exp_execute(link_id, condition.bool_exp_id, user_id) IS NOT TRUE THEN
      RAISE EXCEPTION 'link % rejected because of selector %', link_id, condition.selector_id;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION links__permissions__insert_links__function() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  type links;
  from_type bigint;
  to_type bigint;
BEGIN
  IF NEW.from_id <> NEW.to_id AND 0 IN (NEW.from_id, NEW.to_id) THEN
    RAISE EXCEPTION 'Particular links is not allowed id: %, from: %, to: %, type: %.',
      NEW.id, NEW.from_id, NEW.to_id, NEW.type_id;
  END IF;
  SELECT * INTO type FROM links l WHERE l.id = NEW.type_id;
  SELECT l.type_id INTO from_type FROM links l WHERE l.id = NEW.from_id;
  SELECT l.type_id INTO to_type FROM links l WHERE l.id = NEW.to_id;
  IF NEW.from_id <> 0 AND NEW.to_id <> 0
    AND (type.from_id NOT IN (8, from_type) OR type.to_id NOT IN (8, to_type)) THEN
    RAISE EXCEPTION 'Type conflict link: { id: %, type: %, from: %, to: % } expected type: { from: %, to: % } received type: { from: %, to: % }',
      NEW.id, NEW.type_id, NEW.from_id, NEW.to_id, type.from_id, type.to_id, from_type, to_type;
  END IF;
  PERFORM links__check_rules(NEW.id, NEW.type_id, 25);
  RETURN NEW;
END $$;

CREATE FUNCTION links__permissions__delete_links__function() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM links__check_rules(OLD.id, OLD.type_id, 27);
  RETURN OLD;
END $$;

CREATE TRIGGER links__permissions__insert_links__trigger AFTER INSERT ON links FOR EACH ROW
  EXECUTE FUNCTION links__permissions__insert_links__function();
CREATE TRIGGER links__permissions__delete_links__trigger BEFORE DELETE ON links FOR EACH ROW
  EXECUTE FUNCTION links__permissions__delete_links__function();
