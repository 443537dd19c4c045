-- Who may do what with what, and by which rule.
CREATE VIEW can AS
SELECT DISTINCT r.id AS rule_id, object.item_id AS object_id, subject.item_id AS subject_id, action.item_id AS action_id
FROM links r, links o, selectors object, links s, selectors subject, links a, selectors action
WHERE r.type_id = 17
  AND o.type_id = 19 AND o.from_id = r.id AND object.selector_id = o.to_id
  AND s.type_id = 18 AND s.from_id = r.id AND subject.selector_id = s.to_id
  AND a.type_id = 20 AND a.from_id = r.id AND action.selector_id = a.to_id;
