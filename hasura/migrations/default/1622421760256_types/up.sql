-- The core types that selectors, rules, trees and promises are made of, with ids of their own; ids up to 100 are kept.
SELECT setval('links_id_seq', 100);
INSERT INTO links (id, from_id, to_id, type_id) VALUES
  (1, 8, 8, 1),     -- Type
  (2, 0, 0, 1),     -- Package
  (3, 8, 8, 1),     -- Contain
  (8, 0, 0, 1),     -- Any
  (9, 0, 0, 1),     -- Promise
  (10, 8, 8, 1),    -- Then
  (15, 0, 0, 1),    -- Selector
  (16, 8, 8, 1),    -- SelectorInclude
  (17, 0, 0, 1),    -- Rule
  (18, 8, 8, 1),    -- RuleSubject
  (19, 8, 8, 1),    -- RuleObject
  (20, 8, 8, 1),    -- RuleAction
  (21, 8, 8, 1),    -- SelectorExclude
  (22, 8, 8, 1),    -- SelectorTree
  (23, 8, 8, 1),    -- SelectorFilter
  (24, 0, 0, 1),    -- User
  (25, 0, 0, 1),    -- AllowInsert
  (26, 0, 0, 1),    -- AllowUpdate
  (27, 0, 0, 1),    -- AllowDelete
  (28, 0, 0, 1),    -- AllowSelect
  (29, 8, 8, 1),    -- HandleInsert
  (30, 0, 0, 1),    -- Tree
  (31, 8, 8, 1),    -- TreeIncludeNode
  (32, 8, 8, 1),    -- TreeIncludeDown
  (33, 8, 8, 1),    -- HandleDelete
  (40, 0, 0, 2),    -- the core package
  (41, 0, 0, 30),   -- its tree of containment:
  (42, 41, 8, 31),  -- any link is a node,
  (43, 41, 3, 32);  -- and Contain leads down
INSERT INTO links (id, from_id, to_id, type_id)
  SELECT 60 + row_number() OVER (ORDER BY id), 40, id, 3 FROM links WHERE id IN (1, 2, 3, 8, 24, 25, 26, 27, 28);
INSERT INTO strings (link_id, value) VALUES
  (61, 'Type'), (62, 'Package'), (63, 'Contain'), (64, 'Any'), (65, 'User'), (66, 'AllowInsert'),
  (67, 'AllowUpdate'), (68, 'AllowDelete'), (69, 'AllowSelect'), (40, '@deep-foundation/core');
