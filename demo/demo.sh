# demo.sh: sourced by run; a server is up.  The same links on heap and on doublets.

links=100000
sql() { as_user "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
title() { printf '\n== %s\n' "$*"; }

title "Deep's migration with $links links, on heap and on doublets"
for am in heap doublets; do
	sql -c "CREATE DATABASE $am"
	[ $am = heap ] || sql -d $am -c 'CREATE EXTENSION pg_doublets'
	sql -c 'SET client_min_messages = error' -c "ALTER DATABASE $am SET default_table_access_method = '$am'"
	sql -d $am -f "$src/test/lib/deep.sql"
	sql -d $am -v n=$links -f "$src/test/lib/deep_seed.sql" >/dev/null
done
as_user "$bin/psql" -X -d doublets -c '\d links'
sql -d doublets -P format=aligned -P tuples_only=off -c "SELECT c.relname AS index, a.amname AS method, pg_relation_size(c.oid) AS bytes
	FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = 'links'::regclass ORDER BY 1"

title "Hasura's statements on both"
for f in 20_by_pk 11_select_in 21_aggregate_count 22_aggregate_max_nodes 30_object_relation 32_computed_value \
	40_insert_many 42_on_conflict_update 50_update_set_inc 53_delete; do
	for am in heap doublets; do
		# Arrays without ORDER BY come in the order of the plan: sort their elements to compare.
		as_user "$bin/psql" -X -q -A -t -d $am -f "$src/test/hasura/$f.sql" >"$work/$f.$am" 2>&1 || :
		sed 's/}, {/},\n{/g; s/^\(.*\): \[{/\1: [\n{/; s/^\[{/[\n{/; s/}\]/}\n]/' "$work/$f.$am" | sed 's/,$//' | sort >"$work/$f.$am.sorted"
	done
	if cmp -s "$work/$f.heap.sorted" "$work/$f.doublets.sorted"; then
		printf '%-24s the same on both: %.90s\n' "$f" "$(head -1 "$work/$f.doublets")"
	else
		printf '%-24s NOT THE SAME\n' "$f"
		diff "$work/$f.heap.sorted" "$work/$f.doublets.sorted" | head -10
		demo_failed=yes
	fi
done

title "Plans"
for am in heap doublets; do
	say "-- $am"
	sql -d $am -c 'EXPLAIN SELECT * FROM links WHERE id = 5' -c 'EXPLAIN SELECT * FROM links WHERE from_id = 8 AND to_id = 25' \
		-c 'EXPLAIN SELECT * FROM links WHERE type_id = 2 ORDER BY id DESC LIMIT 5'
done

title "Timings, side by side"
# ms am statement: milliseconds
ms()
{
	sql -d "$1" -c "SET synchronous_commit = off; CHECKPOINT; SET client_min_messages = notice;
		DO \$do\$
		DECLARE t timestamptz := clock_timestamp();
		BEGIN
			$2
			RAISE NOTICE 'ms %', round((extract(epoch FROM clock_timestamp() - t) * 1000)::numeric, 3);
		END \$do\$" 2>&1 | sed -n 's/^NOTICE:  ms //p'
}
wal() { sql -d "$1" -c "SELECT pg_current_wal_insert_lsn() - '0/0'"; }
row() { printf '%-44s %12s %12s %8s\n' "$@"; }
# compare name divisor statement: microseconds an item
measure()
{
	h=$(ms heap "$3")
	d=$(ms doublets "$3")
	row "$1" "$(echo "$h $2" | awk '{printf "%.2f", $1 * 1000 / $2}')" "$(echo "$d $2" | awk '{printf "%.2f", $1 * 1000 / $2}')" \
		"$(echo "$h $d" | awk '{printf "%.1fx", $1 / $2}')"
}
row 'microseconds' heap doublets ratio
wal_h=$(wal heap)
ms heap "FOR i IN 0..99 LOOP INSERT INTO links SELECT 1000000 + i * 100 + g, 1 + (i * 7919 + g) % 1000, 1 + (i * 104729 + g * 3) % 1000, 1 + g % 5 FROM generate_series(0, 99) g; END LOOP;" >"$work/h"
wal_h=$(($(wal heap) - wal_h))
wal_d=$(wal doublets)
ms doublets "FOR i IN 0..99 LOOP INSERT INTO links SELECT 1000000 + i * 100 + g, 1 + (i * 7919 + g) % 1000, 1 + (i * 104729 + g * 3) % 1000, 1 + g % 5 FROM generate_series(0, 99) g; END LOOP;" >"$work/d"
wal_d=$(($(wal doublets) - wal_d))
row 'insert, 100 rows a statement, a row' "$(awk '{printf "%.2f", $1 / 10}' "$work/h")" "$(awk '{printf "%.2f", $1 / 10}' "$work/d")" \
	"$(cat "$work/h" "$work/d" | awk 'NR == 1 {h = $1} NR == 2 {printf "%.1fx", h / $1}')"
measure 'update by 100 ids, a row' 10000 "FOR i IN 0..99 LOOP UPDATE links SET to_id = to_id + 1 WHERE id = ANY (ARRAY(SELECT 1000000 + i * 100 + g FROM generate_series(0, 99) g)); END LOOP;"
measure 'select by id, a statement' 20000 "DECLARE l links; BEGIN FOR i IN 1..20000 LOOP SELECT * INTO l FROM links WHERE id = 1 + (i * 7919) % $links; END LOOP; END;"
measure 'select by source, a statement' 2000 "DECLARE n bigint; BEGIN FOR i IN 1..2000 LOOP SELECT count(*) INTO n FROM links WHERE from_id = 1 + (i * 7) % 1000; END LOOP; END;"
measure 'select by source and target, a statement' 2000 "DECLARE n bigint; BEGIN FOR i IN 1..2000 LOOP SELECT count(*) INTO n FROM links WHERE from_id = 1 + (i * 7) % 1000 AND to_id = 1 + (i * 11) % 1000; END LOOP; END;"
measure 'count all, a row' 110000 "PERFORM count(*) FROM links;"
measure 'delete by 100 ids, a row' 10000 "FOR i IN 0..99 LOOP DELETE FROM links WHERE id = ANY (ARRAY(SELECT 1000000 + i * 100 + g FROM generate_series(0, 99) g)); END LOOP;"
say ""
row 'bytes' heap doublets ratio
row 'WAL a row, insert' $((wal_h / 10000)) $((wal_d / 10000)) "$(echo "$wal_h $wal_d" | awk '{printf "%.1fx", $1 / $2}')"
for am in heap doublets; do
	sql -d $am -c 'VACUUM (FULL) links' -c 'ANALYZE links'
done
size_h=$(sql -d heap -c "SELECT pg_total_relation_size('links')")
size_d=$(sql -d doublets -c "SELECT pg_total_relation_size('links')")
row 'table and indexes on disk' "$size_h" "$size_d" "$(echo "$size_h $size_d" | awk '{printf "%.1fx", $1 / $2}')"
row 'store in shared memory' '' "$(sql -d doublets -c "SELECT shared_bytes FROM doublets_stats('links')")" ''

title "A crash: kill -9 of the postmaster"
answer="SELECT count(*) AS links, sum(id) AS ids, sum(from_id) AS sources, sum(to_id) AS targets FROM links"
before=$(sql -d doublets -c "$answer")
say "before: $before"
sql -d doublets -c 'INSERT INTO links VALUES (2000000, 1, 2, 3)' -c 'BEGIN' -c 'INSERT INTO links VALUES (2000001, 1, 2, 3)' -c 'ROLLBACK'
( echo 'BEGIN; INSERT INTO links VALUES (2000002, 1, 2, 3);'; sleep 3 ) | sql -d doublets >/dev/null 2>&1 &
open=$!
sleep 1
kill -9 "$(head -1 "$server_dir/postmaster.pid")"
wait $open || :
# The old server's processes end by themselves; its shared memory must be free before the new one starts.
tries=0
until resume_server 2>/dev/null || [ $tries = 30 ]; do
	tries=$((tries + 1))
	sleep 1
done
after=$(sql -d doublets -c "$answer WHERE id < 2000000")
say "after:  $after"
say "committed just before: $(sql -d doublets -c 'SELECT count(*) FROM links WHERE id = 2000000'), rolled back or open: $(sql -d doublets -c 'SELECT count(*) FROM links WHERE id > 2000000')"
say "loaded again in $(sql -d doublets -c "SELECT round(load_ms) || ' ms' FROM doublets_stats('links')"), faults found by doublets_check: $(sql -d doublets -c "SELECT count(*) FROM doublets_check('links')")"
[ "$before" = "$after" ] || demo_failed=yes
[ -z "${demo_failed:-}" ] || die "the demo found a difference"
