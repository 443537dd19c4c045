"""What was aimed at, and what came out. A target whose rows were not measured is left out."""
from harness import figures

# (what, section, rows, against, at least so many times better, further conditions)
LEAST = [
    ("insert 100, update 100: 5x heap", "sql", ["insert 100", "update 100"], "heap", 5.0, {"clients": 1, "synchronous_commit": False}),
    ("insert 1, update 1: 2x heap", "sql", ["insert 1", "update 1"], "heap", 2.0, {"clients": 1, "synchronous_commit": False}),
    ("delete: 1.3x heap", "sql", ["delete 1", "delete 100"], "heap", 1.3, {"clients": 1, "synchronous_commit": False}),
    ("single point reads never slower than heap", "sql", ["select by id", "select by (from, to)", "select by from", "select by to"],
     "heap", 1.0, {}),
    ("pipelined point reads, joins, EXISTS: 1.3x heap", "sql",
     ["select by id, 20 in a pipeline", "1-hop join", "2-hop join", "EXISTS chain"], "heap", 1.3, {"clients": 1}),
    ("count(*), ordered full read, JSON never slower than heap", "sql",
     ["count(*)", "all rows in order of id", "order by id, limit 20 offset 100", "max(id)", "Hasura's JSON of all rows"], "heap", 1.0, {}),
    ("insert 100, update 100: 2.5x lean", "sql", ["insert 100", "update 100"], "lean", 2.5, {"clients": 1, "synchronous_commit": False}),
    ("no statement slower than lean (SQL)", "sql", None, "lean", 1.0, {}),
    ("WAL a row: 1/6 of heap without full-page images", "wal", [f"{n}, without full-page images" for n in
     ("insert 1", "insert 100", "update 1", "update 100")], "heap", 6.0, {}),
    ("WAL a row after a checkpoint: 1/20 of heap (at 1,000,000 links)", "wal", [f"{n}, first rows after a checkpoint" for n in
     ("insert 100", "update 100")], "heap", 20.0, {"links": 1000000}),
    ("on disk: 1/5 of heap", "size", ["on disk, table and indexes"], "heap", 5.0, {}),
    ("COPY: 5x heap", "bulk", ["COPY, in order", "COPY, scattered"], "heap", 5.0, {}),
    ("p99 beside checkpoint and vacuum never worse than heap", "stalls", None, "heap", 1.0, {}),
    ("store: never slower than doublets-rs split", "store", None, "split", 1.0, {}),
]


def _rows(records, section, names, against, wanted):
    """(name and conditions, ours, theirs) of the rows that a target speaks of."""
    index = {(r["section"], r["row"], r["variant"], tuple(sorted(r["about"].items()))): r for r in records}
    for (part, row, variant, about), record in index.items():
        if part != section or variant != "doublets" or (names is not None and row not in names):
            continue
        if (section == "stalls" and "p99" not in row) or row == "bytes a link":
            continue
        if section == "sql" and dict(about).get("links", 0) < 100000 and against == "heap" and names and "insert" in names[0]:
            continue
        if any(dict(about).get(name) != value for name, value in wanted.items()):
            continue
        theirs = index.get((part, row, against, about))
        if theirs:
            yield row, record, theirs


def _some(rows):
    return ", ".join(rows[:8]) + (f" and {len(rows) - 8} more" if len(rows) > 8 else "")


def table(records):
    lines = []
    for what, section, names, against, least, wanted in LEAST:
        missed, unsure, best, worst = [], [], None, None
        for row, ours, theirs in _rows(records, section, names, against, wanted):
            times = figures.advantage(ours["values"], theirs["values"], ours["higher"])
            if times is None:
                continue
            worst = times if worst is None else min(worst, times)
            best = times if best is None else max(best, times)
            if times >= least * (1 - figures.ABOUT if least == 1.0 else 1):
                continue
            overlap = least == 1.0 and figures.same(ours["values"], theirs["values"])
            (unsure if overlap else missed).append(f"{row} {times:.2f}x")
        if worst is None:
            continue
        words = ["missed: " + _some(missed)] if missed else []
        words += ["undecided, as quartiles overlap: " + _some(unsure)] if unsure else []
        lines.append(f"| {what} | {worst:.2f}x to {best:.2f}x | {'; '.join(words) or 'met'} |")
    if not lines:
        return ""
    return "### Targets\n\n| target | measured | |\n| --- | --- | --- |\n" + "\n".join(lines)
