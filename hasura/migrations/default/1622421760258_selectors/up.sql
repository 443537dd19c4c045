-- What a selector selects: all that lies below what it includes, in the tree that the include names, less what it excludes.
CREATE VIEW selectors AS
SELECT below.item_id, include.from_id AS selector_id, include.id AS selector_include_id,
  (SELECT f.to_id FROM links f WHERE f.type_id = 23 AND f.from_id = include.from_id ORDER BY f.id LIMIT 1) AS bool_exp_id
FROM links include, links in_tree, mp below
WHERE include.type_id = 16
  AND in_tree.type_id = 22 AND in_tree.from_id = include.id
  AND below.group_id = in_tree.to_id AND below.path_item_id = include.to_id
  AND NOT EXISTS (
    SELECT 1 FROM links exclude, links out_tree, mp above
    WHERE exclude.type_id = 21 AND exclude.from_id = include.from_id
      AND out_tree.type_id = 22 AND out_tree.from_id = exclude.id
      AND above.group_id = out_tree.to_id AND above.item_id = below.item_id AND above.path_item_id = exclude.to_id);

-- Runs a condition for a link and a user; NULL where there is no such condition.
CREATE FUNCTION bool_exp_execute(target_link_id bigint, bool_exp_link_id bigint, user_id bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  condition text;
  hits bigint;
BEGIN
  SELECT b.value INTO condition FROM bool_exp b WHERE b.link_id = bool_exp_link_id ORDER BY b.id LIMIT 1;
  IF condition IS NULL THEN
    RETURN NULL;
  END IF;
  EXECUTE replace(replace(condition, '%ITEM%', target_link_id::text), '%USER%', coalesce(user_id, 8)::text) INTO hits;
  RETURN hits > 0;
END $$;

CREATE FUNCTION links__exec_bool_exp__function(link links, link_id bigint, hasura_session json)
RETURNS SETOF links LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF bool_exp_execute(link_id, link.id, (hasura_session ->> 'x-hasura-user-id')::bigint) THEN
    RETURN QUERY SELECT l.* FROM links l WHERE l.id = link_id;
  END IF;
END $$;
