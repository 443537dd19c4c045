-- under a role with checks for insert and for update the system column xmax tells which it was
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
WITH "_mra__links" AS (INSERT INTO "public"."links" ("id", "from_id", "to_id", "type_id") VALUES (('12')::bigint, ('1')::bigint, ('2')::bigint, ('3')::bigint), (('900004')::bigint, ('1')::bigint, ('2')::bigint, ('3')::bigint) ON CONFLICT ON CONSTRAINT "links_pkey" DO UPDATE SET "from_id" = EXCLUDED."from_id", "to_id" = EXCLUDED."to_id" WHERE ('true')
  RETURNING *, CASE WHEN ("public"."links"."xmax") = (0) THEN (EXISTS (SELECT 1 FROM "public"."can" AS "_be_0_can" WHERE (("_be_0_can"."object_id") = ("public"."links"."type_id"))))::boolean ELSE ('true')::boolean END AS "check__constraint"),
"_aca__links" AS (SELECT "id", "from_id", "to_id", "type_id" FROM "_mra__links")
SELECT json_build_object('affected_rows', (SELECT COUNT(*) FROM "_aca__links"), 'returning', (SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_root.base"."id" AS "id", "_root.base"."type_id" AS "type_id", "_root.base"."from_id" AS "from_id", "_root.base"."to_id" AS "to_id") AS "_e")) AS "root"
    FROM (SELECT * FROM "_aca__links" WHERE ('true')) AS "_root.base") AS "_root")),
  (SELECT coalesce(bool_and("check__constraint"), 'true') FROM "_mra__links");
ROLLBACK;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL "hasura.user" = '{"x-hasura-role":"admin"}';
INSERT INTO links (id, type_id) VALUES (12, 3), (900005, 3) ON CONFLICT (id) DO UPDATE SET type_id = EXCLUDED.type_id RETURNING id, xmax = 0 AS inserted;
ROLLBACK;
INSERT INTO links (id, type_id) VALUES (900006, 3) RETURNING xmax, xmin::text::bigint = txid_current() AS mine, tableoid::regclass;
UPDATE links SET to_id = 4 WHERE id = 900006 RETURNING xmax, cmin = cmax AS same;
