# The workload of the links API on heap and on doublets; sourced by ./run bench-graphql.
#
# Results are kept in hasura/results/workload.json as they come: a run that was stopped goes on where it stopped. To
# measure anew, remove the file.

# links_store name method: a database with the links and values migrations
links_store()
{
	"$bin/createdb" -T template0 "$1"
	(cd "$here/hasura" && /usr/bin/python3 -m driver migrate "dbname=$1" --access-method "$2" --only 1616701513782 --only 1622421760250)
}

# workload variant database-suffix arguments...
workload()
{
	variant=$1
	suffix=$2
	shift 2
	(cd "$here/hasura" && /usr/bin/python3 -m driver workload "heap=dbname=heap$suffix" "doublets=dbname=doublets$suffix" \
		--results "$results" --variant "$variant" --note "$BENCH_NOTE" "$@")
}

bench_graphql()
{
	packages python3 python3-matplotlib
	BENCH_COMMIT=$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)
	[ -z "$(git -C "$here" status --porcelain --untracked-files=no 2>/dev/null)" ] || BENCH_COMMIT=$BENCH_COMMIT+changes
	BENCH_NOTE=${BENCH_NOTE:-}
	export BENCH_COMMIT
	build
	start_server bench "shared_buffers = 1GB" "max_wal_size = 8GB" "checkpoint_timeout = 30min" "autovacuum = off" "jit = off"
	results=$here/hasura/results/workload.json
	mkdir -p "$here/hasura/results"
	for am in heap doublets; do
		links_store "$am" "$am"
		links_store "${am}_events" "$am"
		(cd "$here/hasura" && /usr/bin/python3 -m driver migrate "dbname=${am}_events" --only 'no migration' --event-triggers)
	done
	sizes=1000,10000,100000,1000000
	[ "$1" = full ] || sizes=1000,10000
	workload "The links table" "" --sizes "$sizes"
	[ "$1" = quick ] || workload "With an engine's event trigger, a thousand links a mutation" _events --sizes 10000,100000 --n 1000 \
		--operations create,update,delete
	[ "$1" = quick ] || workload "All links of one type" "" --sizes 100000 --types 1 --operations create,update,delete
	stop_server
	(cd "$here/hasura" && /usr/bin/python3 -m driver report results/workload.json README.md --charts results) || die "no report"
	say "see hasura/README.md and hasura/results"
}
