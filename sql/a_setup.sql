-- The extension itself.
CREATE EXTENSION pg_doublets;
\dx pg_doublets
SELECT amname, amtype FROM pg_am WHERE amname LIKE 'doublets%' ORDER BY 1;
SELECT proname, prorettype::regtype, proargnames[1] FROM pg_proc WHERE proname LIKE 'doublets%' ORDER BY 1;
SELECT name, setting, unit, context FROM pg_settings WHERE name LIKE 'pg_doublets.%' ORDER BY 1;
