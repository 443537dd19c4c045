"""Sections of the report and their tables."""
import collections

from harness import figures

Section = collections.namedtuple("Section", "name title ours others text")

SECTIONS = [
    Section("store", "The store alone", "doublets", ["split", "united", "SQLite"],
            "Nanoseconds an operation, in memory, without PostgreSQL: our store (with versions and postings by type) beside the doublets crate's split "
            "and united volatile stores, and SQLite in memory. Less is better."),
    Section("sql", "SQL statements", "doublets", ["heap", "lean"],
            "pgbench, prepared statements; heap has Deep's eight indexes, lean has four (primary key, two pairs, type), doublets Deep's eight. "
            "Per second: more is better. A batch of 100 counts as 100 rows."),
    Section("wal", "WAL", "doublets", ["heap", "lean"], "Bytes of WAL a row. Less is better."),
    Section("size", "Size", "doublets", ["heap", "lean"],
            "Bytes a link, for pairs (i, i + 1). Heap's share of shared buffers is not counted; it can be as large as the relation."),
    Section("bulk", "Loading, VACUUM, restart", "doublets", ["heap", "lean"],
            "Loads are into empty tables with all their indexes."),
    Section("stalls", "Latency beside CHECKPOINT and VACUUM", "doublets", ["heap", "lean"],
            "Microseconds that half, or 99 %, of the transactions do not exceed. Less is better."),
    Section("redis", "Beside Redis", "doublets", ["heap", "Redis"],
            "One client on a Unix socket. The same tasks with links and with Redis's own types; answers are compared. Single: wait for each; pipelined: 100 are "
            "sent, then waited for (one transaction in PostgreSQL); batched: 100 in one statement, or between MULTI and EXEC. Per second: more is better. "
            "PostgreSQL with synchronous_commit off, Redis with appendonly and appendfsync everysec: about the same promise."),
    Section("graph", "A graph", "doublets", ["heap", "lean"], "10,000 nodes, 50,000 edges of three types. Per second: more is better."),
]


def groups(records, section):
    """[(conditions, {row: {variant: record}})] in the order in which they were measured."""
    found = {}
    for record in records:
        if record["section"] == section.name:
            key = tuple(sorted(record["about"].items()))
            rows = found.setdefault(key, (record["about"], {}))[1]
            rows.setdefault(record["row"], {})[record["variant"]] = record
    return list(found.values())


def conditions(about):
    words = []
    for name, value in about.items():
        if name == "types":
            words.append(f"{value} types" if value else "all of type 0")
        elif name == "logged":
            words.append("logged" if value else "unlogged")
        elif name == "synchronous_commit":
            words.append("synchronous_commit " + ("on" if value else "off"))
        elif name == "data":
            words.append(str(value))
        elif name == "clients" and value == 1:
            words.append("1 client")
        else:
            words.append(f"{value:,} {name}" if isinstance(value, int) else f"{name} {value}")
    return ", ".join(words)


def number(value):
    """Three digits that count, with thousands apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _figure(record):
    low, middle, high = figures.quartiles(record["values"])
    text = number(middle)
    if len(record["values"]) >= 3 and middle and (high - low) / middle > 0.1:
        text += f" ({number(low)} to {number(high)})"
    return text


def verdict(ours, theirs):
    if figures.same(ours["values"], theirs["values"]):
        return "about the same"
    times = figures.advantage(ours["values"], theirs["values"], ours["higher"])
    return "" if times is None else f"**{times:.2f}x**" if times < 1 else f"{times:.1f}x"


def table(section, rows):
    present = [v for v in [section.ours, *section.others] if any(v in row for row in rows.values())]
    others = [v for v in present if v != section.ours]
    head = ["", *present, *[f"against {other}" for other in others], ""]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 2) + " --- |"]
    for name, row in rows.items():
        ours = row.get(section.ours)
        cells = [name] + [_figure(row[v]) if v in row else "" for v in present]
        cells += [verdict(ours, row[other]) if ours and other in row else "" for other in others]
        lines.append("| " + " | ".join([*cells, next(iter(row.values()))["unit"]]) + " |")
    return "\n".join(lines)
