DELETE FROM strings WHERE link_id <= 100;
DELETE FROM links WHERE id <= 100;
SELECT setval('links_id_seq', 1, false);
