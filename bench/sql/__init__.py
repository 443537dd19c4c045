"""Statements on heap with Deep's eight indexes, on heap with four, and on doublets."""
import dataclasses
import os

from sql import bulk, stalls, wal
from sql.scripts import NAMED, READS, WRITES
from sql.statements import Statements

READ_NAMES = [script.name for script in READS]
WRITE_NAMES = [script.name for script in WRITES if not script.name.startswith("delete")]
POINTS = ["select by id", "select by (from, to)", "1-hop join"]
MANY = ["insert 1", "insert 100", "update 1", "update 100"]


@dataclasses.dataclass(frozen=True)
class Plan:
    """How long to measure. seconds: of each run on heap; discard: at most so much of its beginning is left out."""
    repeats: int
    seconds: float
    discard: float
    most: int                   # transactions of a run
    sets: tuple                 # of tables: (links, types, unlogged, [(clients, synchronous, names)])
    bulk_links: tuple
    bulk_repeats: int
    wal_rows: int
    stall_seconds: int


def _sets(links, clients):
    return ((links, 100, False, [(1, False, READ_NAMES + WRITE_NAMES), (clients, False, POINTS + MANY), (1, True, ["insert 1", "update 1"])]),
            (links, 100, True, [(1, False, ["insert 100", "update 100"])]),
            (links, 0, False, [(1, False, ["insert 100", "count(*) by type"])]))


def plan(size):
    if size == "tiny":
        return Plan(2, 0.02, 1, 400, _sets(1000, 4), (2000,), 1, 200, 4)
    if size == "quick":
        return Plan(5, 0.25, 1, 20000, _sets(100000, 4), (100000,), 2, 5000, 5)
    if size == "short":
        sets = ((100000, 100, False, [(1, False, READ_NAMES + WRITE_NAMES)]),)
        return Plan(3, 0.1, 1, 20000, sets, (100000,), 1, 2000, 4)
    many = [4] + ([16] if (os.cpu_count() or 1) >= 8 else [])
    every = []
    for links in (1000, 100000, 1000000):
        runs = [(1, False, READ_NAMES + WRITE_NAMES), (1, True, MANY)]
        runs += [(clients, synchronous, (READ_NAMES if not synchronous else []) + WRITE_NAMES)
                 for clients in many for synchronous in (False, True)]
        every += [(links, 100, False, runs), (links, 100, True, [(1, False, READ_NAMES + WRITE_NAMES), (4, False, POINTS + MANY)])]
    every.append((200000, 0, False, [(1, False, ["select by id", "count(*) by type", *WRITE_NAMES])]))
    return Plan(5, 3, 3, 200000, tuple(every), (100000, 1000000), 3, 20000, 20)


def run(server, records, size, say):
    p = plan(size)
    server.sql(f"CREATE TABLE strings (link_id bigint, value text); CREATE INDEX ON strings (link_id); CREATE INDEX ON strings (value);"
               f"INSERT INTO strings SELECT i, 'name ' || i FROM generate_series(1, {NAMED}) i; VACUUM ANALYZE strings")
    for links in p.bulk_links:
        say(f"sql: {links} links, loading")
        bulk.loads(server, records, links, p.bulk_repeats, say)
        bulk.sizes(server, records, links)
        bulk.vacuums(server, records, links, say)
        bulk.restart(server, records, links, say)
    stalled = max(links for links, types, unlogged, _ in p.sets if types and not unlogged)
    for links, types, unlogged, runs in p.sets:
        say(f"sql: {links} links, {types or 'one'} types, {'unlogged' if unlogged else 'logged'}")
        tables = Statements(server, records, p, links, types, unlogged, say)
        for clients, synchronous, names in runs:
            tables.measure(names, clients, synchronous)
        if types and not unlogged:
            wal.measure(server, records, tables, p.wal_rows, say)
            if links == stalled:
                stalls.measure(server, records, tables, p.stall_seconds, 2, say)
