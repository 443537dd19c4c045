-- what Hasura reads of a table before it tracks it
SELECT c.relkind, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 't', 'v', 'm', 'f', 'p') AND n.nspname = 'public' AND c.relname = 'links';
SELECT i.relname, x.indisprimary, (SELECT jsonb_agg(a.attname) FROM pg_attribute a WHERE a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey)) AS columns
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = 'public.links'::regclass AND x.indisunique;
SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'links'::regclass ORDER BY 1;
SELECT a.attname, a.attnum, t.typname, a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = 'public.links'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;
SELECT conname, conrelid::regclass, confrelid::regclass FROM pg_constraint WHERE contype = 'f' AND confrelid = 'public.links'::regclass;
SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = 'links'::regclass ORDER BY 1;
SELECT column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE table_name = 'links' ORDER BY ordinal_position;
