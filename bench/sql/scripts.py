"""The statements that are timed, as pgbench scripts, and how each is checked before.

Random variables are uniform in a range that depends on the number of links; further ones are derived from them by an
expression that pgbench and Python both can compute. What stays the same through a run (number of links and so on) is
put into the text, so that only the variables become parameters of the prepared statement.
"""
import dataclasses
import random
import re

from sql.variants import ends

NAMED = 1000                    # the first links have a name in public.strings


@dataclasses.dataclass(frozen=True)
class Script:
    name: str
    sql: str
    ranges: dict = dataclasses.field(default_factory=dict)
    derived: dict = dataclasses.field(default_factory=dict)
    rows: int = 1               # rows that it writes; figures are per row
    counts: bool = False        # :k counts the transactions of a client
    repeat: int = 1             # statements sent in one pipeline
    writes: bool = False
    check: str = "rows"         # rows, json, or page (any rows that the condition allows)
    undo: str = ""              # name of the script that takes the writes back

    def pgbench(self, constants):
        body = "\\set k :k + 1\n" if self.counts else ""
        for name, bounds in self.ranges.items():
            low, high = bounds(constants["b"])
            body += f"\\set {name} random({low}, {high})\n"
        for name, expression in self.derived.items():
            body += f"\\set {name} {_put(expression, constants)}\n"
        body += _put(self.sql, constants) + ";\n"
        if self.repeat > 1:
            body = "\\startpipeline\n" + body * self.repeat + "\\endpipeline\n"
        return body

    def sample(self, constants, seed):
        """The statement with values in place of the variables."""
        dice = random.Random(seed)
        values = dict(constants, client_id=0, k=seed)
        for name, bounds in self.ranges.items():
            values[name] = dice.randint(*bounds(constants["b"]))
        for name, expression in self.derived.items():
            values[name] = eval(_put(expression, values).replace("/", "//"))    # pylint: disable=eval-used
        return _put(self.sql, values)


def _put(text, values):
    return re.sub(r"(?<!:):([a-z_]+)", lambda m: str(values.get(m.group(1), m.group(0))), text)


def _any_id(links):
    return 1, links


def _any_end(links):
    return 1, ends(links)


def _any_type(_links):
    return 0, 99


COLUMNS = "id, from_id, to_id, type_id"

READS = [
    Script("select by id", f"SELECT {COLUMNS} FROM links WHERE id = :x", {"x": _any_id}),
    Script("select by id, 20 in a pipeline", f"SELECT {COLUMNS} FROM links WHERE id = :x", {"x": _any_id}, repeat=20),
    Script("select by (from, to)", f"SELECT {COLUMNS} FROM links WHERE from_id = :f AND to_id = :g", {"x": _any_id},
           {"f": "1 + (:x * 7919) % :e", "g": "1 + (:x * 104729 + :x / :e) % :e"}),
    Script("select by from", f"SELECT {COLUMNS} FROM links WHERE from_id = :x", {"x": _any_end}),
    Script("select by to", f"SELECT {COLUMNS} FROM links WHERE to_id = :x", {"x": _any_end}),
    Script("select by type, 10 rows", f"SELECT {COLUMNS} FROM links WHERE type_id = :x LIMIT 10", {"x": _any_type}, check="page"),
    Script("1-hop join", "SELECT a.id, b.id, b.to_id FROM links a JOIN links b ON b.from_id = a.to_id WHERE a.from_id = :x",
           {"x": _any_end}),
    Script("2-hop join", "SELECT a.id, b.id, c.id, c.to_id FROM links a JOIN links b ON b.from_id = a.to_id "
           "JOIN links c ON c.from_id = b.to_id WHERE a.from_id = :x", {"x": _any_end}),
    Script("EXISTS chain", f"SELECT {COLUMNS} FROM links l WHERE EXISTS (SELECT 1 FROM links c WHERE c.to_id = l.id AND "
           "EXISTS (SELECT 1 FROM links p WHERE p.id = c.from_id AND EXISTS (SELECT 1 FROM links n WHERE n.to_id = p.id "
           "AND n.type_id = :y AND EXISTS (SELECT 1 FROM strings s WHERE s.link_id = n.id AND s.value = 'name ' || :x))))",
           {"x": lambda links: (1, min(links, NAMED))}, {"y": ":x % :t"}),
    Script("count(*)", "SELECT count(*) FROM links"),
    Script("count(*) by type", "SELECT count(*) FROM links WHERE type_id = :x", {"x": _any_type}),
    Script("order by id, limit 20 offset 100", f"SELECT {COLUMNS} FROM links ORDER BY id LIMIT 20 OFFSET 100"),
    Script("max(id)", "SELECT max(id) FROM links"),
    Script("all rows in order of id", "SELECT count(*), sum(q.n) FROM (SELECT id + from_id + to_id AS n FROM links ORDER BY id OFFSET 0) q"),
    Script("Hasura's JSON of all rows", "SELECT coalesce(json_agg(\"root\"), '[]') AS \"root\" FROM (SELECT row_to_json((SELECT \"_e\" "
           "FROM (SELECT \"_root.base\".\"id\" AS \"id\", \"_root.base\".\"from_id\" AS \"from_id\", \"_root.base\".\"to_id\" AS \"to_id\", "
           "\"_root.base\".\"type_id\" AS \"type_id\") AS \"_e\")) AS \"root\" FROM (SELECT * FROM links WHERE ('true')) "
           "AS \"_root.base\") AS \"_root\"", check="json"),
]

# Inserted links get their ids from the sequence; deletions are of links :base + 1 to :base + :n, scattered. A batch
# is of 100 links, and batches of several clients touch different links.
WRITES = [
    Script("insert 1", "INSERT INTO links (from_id, to_id, type_id) VALUES (:x, :y, :z)", {"x": _any_end, "y": _any_end},
           {"z": ":x % :t"}, writes=True, undo="delete 1"),
    Script("delete 1", "DELETE FROM links WHERE id = :x", {}, {"x": ":base + 1 + ((:k * :c + :client_id) * 7919) % :n"},
           counts=True, writes=True),
    Script("insert 100", "INSERT INTO links (from_id, to_id, type_id) SELECT 1 + (q.x + g * 7919) % :e, 1 + (q.x + g * 104729) % :e, "
           "(q.x + g) % :t FROM (SELECT :x::bigint AS x) q, generate_series(0, 99) g", {"x": _any_id}, rows=100, writes=True,
           undo="delete 100"),
    Script("delete 100", "DELETE FROM links WHERE id = ANY (ARRAY(SELECT :base + 1 + (((q.x + g) * 7919) % :n) "
           "FROM (SELECT :x::bigint AS x) q, generate_series(0, 99) g))", {}, {"x": "(:k * :c + :client_id) * 100"},
           rows=100, counts=True, writes=True),
    Script("update 1", "UPDATE links SET to_id = 1 + (to_id + :y) % :e WHERE id = :x", {"x": _any_id, "y": _any_end}, writes=True),
    Script("update 100", "UPDATE links SET to_id = 1 + (to_id + :y) % :e WHERE id = ANY (ARRAY(SELECT 1 + ((q.x + g * 7919) % (:b / :c)) * :c "
           "+ q.client FROM (SELECT :x::bigint AS x, :z::bigint AS client) q, generate_series(0, 99) g))",
           {"x": _any_id, "y": _any_end}, {"z": ":client_id"}, rows=100, writes=True),
]

BY_NAME = {script.name: script for script in READS + WRITES}


def constants(links, types, clients=1, base=0, number=None):
    """What stays the same through a run. base, number: which links are deleted."""
    return {"b": links, "e": ends(links), "t": types or 1, "c": clients, "base": base, "n": number or links}
