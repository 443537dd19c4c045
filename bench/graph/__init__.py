"""A graph: 10,000 nodes and 50,000 edges of three types, all of them links; names of nodes in a table of strings."""
from sql import checks, pgbench
from sql.scripts import COLUMNS, Script
from sql.variants import VARIANTS, create, same_everywhere

NODES, EDGES, FIRST_TYPE, NODE_TYPE = 10000, 50000, 11, 1
LAST = NODES + EDGES


def _any_node(_links):
    return 1, NODES


def _any_edge(_links):
    return 1, EDGES


# Edge k (from 1) leaves node _FROM and enters node _TO.
_FROM = f"1 + (:x * 7919) % {NODES}"
_TO = f"1 + (:x * 104729 + :x / {NODES} * 13) % {NODES}"

SCRIPTS = [
    Script("node by id", f"SELECT {COLUMNS} FROM links WHERE id = :x", {"x": _any_node}),
    Script("node by name", "SELECT l.id, l.type_id FROM graph_names n JOIN links l ON l.id = n.link_id WHERE n.value = 'node ' || :x",
           {"x": _any_node}),
    Script("1-hop: nodes behind a node's edges of one type", "SELECT n.id, n.type_id FROM links e JOIN links n ON n.id = e.to_id "
           "WHERE e.from_id = :x AND e.type_id = :y", {"x": _any_node, "y": lambda links: (FIRST_TYPE, FIRST_TYPE + 2)}),
    Script("edge exists", "SELECT EXISTS (SELECT 1 FROM links WHERE from_id = :f AND to_id = :g AND type_id = :y)", {"x": _any_edge},
           {"f": _FROM, "g": _TO, "y": f"{FIRST_TYPE} + :x % 3"}),
    Script("breadth-first path, depth 5", "WITH RECURSIVE walk AS (SELECT :x::bigint AS node, 0 AS depth UNION SELECT e.to_id, w.depth + 1 FROM walk w "
           "JOIN links e ON e.from_id = w.node WHERE w.depth < 5) SELECT count(*), count(DISTINCT node), min(depth) FILTER (WHERE node = :y) FROM walk",
           {"x": _any_node, "y": _any_node}),
    Script("write 100 nodes", f"INSERT INTO links (from_id, to_id, type_id) SELECT 0, 0, {NODE_TYPE} FROM generate_series(1, 100)",
           rows=100, writes=True),
    Script("write 100 edges", f"INSERT INTO links (from_id, to_id, type_id) SELECT 1 + (q.x + g * 7919) % {NODES}, 1 + (q.x + g * 104729) % {NODES}, "
           f"{FIRST_TYPE} + g % 3 FROM (SELECT :x::bigint AS x) q, generate_series(0, 99) g", {"x": _any_node}, rows=100, writes=True),
]

# seconds of a run, repeats
PLANS = {"tiny": (0.02, 1), "short": (0.1, 3), "quick": (0.3, 5), "full": (3, 9)}


def _fill(server, schema):
    k = f"i - {NODES}"
    source, target = _FROM.replace(":x", f"({k})"), _TO.replace(":x", f"({k})")
    server.sql(f"INSERT INTO links SELECT i, 0, 0, {NODE_TYPE} FROM generate_series(1::bigint, {NODES}) i;"
               f"INSERT INTO links SELECT i, {source}, {target}, {FIRST_TYPE} + ({k}) % 3 FROM generate_series({NODES + 1}::bigint, {LAST}) i;"
               f"SELECT setval('links_id_seq', {LAST}); VACUUM ANALYZE links", schema)


def _timed(server, variant, script, count):
    done = pgbench.run(server, variant, script.pgbench({"b": LAST}), 1, transactions=count, settings={"synchronous_commit": "off"})
    if script.writes:
        server.sql(f"DELETE FROM links WHERE id > {LAST}; SELECT setval('links_id_seq', {LAST}); VACUUM links", variant)
    return done


def run(server, records, size, say):
    seconds, repeats = PLANS[size]
    server.sql("CREATE TABLE graph_names (link_id bigint, value text);"
               f"INSERT INTO graph_names SELECT i, 'node ' || i FROM generate_series(1, {NODES}) i;"
               "CREATE INDEX ON graph_names (value); VACUUM ANALYZE graph_names")
    for variant in VARIANTS:
        create(server, variant, variant)
        _fill(server, variant)
    same_everywhere(server, VARIANTS, "in the graph")
    for script in SCRIPTS:
        checks.check(server, list(VARIANTS), script, {"b": LAST})
        probe = _timed(server, "heap", script, 20).done[10:]
        count = max(int(seconds * 1e6 * len(probe) / sum(t for _, t in probe)), 3)
        say(f"  {script.name}: {count} transactions")
        for turn in range(repeats):
            for place in range(len(VARIANTS)):
                variant = list(VARIANTS)[(turn + place) % len(VARIANTS)]
                records.add("graph", script.name, variant, _timed(server, variant, script, count).per_second(1) * script.rows,
                            "rows/s" if script.rows > 1 else "statements/s", higher=True, nodes=NODES, edges=EDGES)
    same_everywhere(server, VARIANTS, "after the graph")
