"""The store alone, beside SQLite in memory and the doublets crate's volatile stores."""
import os
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name, shape of the links, number of types of ours (the others have none)
DATA = [("few links an end, 100 types", "few", 100), ("power-law degrees, 100 types", "power", 100), ("few links an end, one type", "few", 1)]

# (links, rounds, rounds in which SQLite takes part, how many of the data sets)
PLANS = {"tiny": [(2000, 2, 2, 3)], "short": [(100000, 3, 1, 2)], "quick": [(100000, 5, 3, 3), (1000000, 3, 1, 2)],
         "full": [(100000, 7, 7, 3), (1000000, 5, 5, 3), (10000000, 2, 2, 3)]}

TIMEOUT = 3600


def _round(command):
    """{(store, operation): (figure, what it saw)} of one program."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    found = {}
    for line in done.stdout.splitlines():
        store, operation, figure, links, total = line.split("\t")
        found[store, operation] = float(figure), (links, total)
    return found


def _record(records, found, seen, **about):
    for (store, operation), (figure, saw) in found.items():
        size = operation == "bytes a link"
        if not size and seen.setdefault(operation, saw) != saw:
            raise AssertionError(f"{store}, {operation}, {about}: sees {saw}, others {seen[operation]}")
        records.add("store", operation, store, figure, "bytes" if size else "ns", **about)


def run(server, records, size, say):
    crate = os.environ.get("BENCH_CRATE", "")
    skipped = []
    if not os.access(crate, os.X_OK):
        skipped.append("the doublets crate: no cargo here, or no registry with the crate")
    for links, rounds, with_sqlite, sets in PLANS[size]:
        for name, shape, types in DATA[:sets]:
            say(f"store: {links} links, {name}")
            seen = {}
            for turn in range(rounds):
                programs = [[os.path.join(HERE, "build", "store"), shape, str(links), str(types), str(turn)]]
                if turn >= with_sqlite:
                    programs[0].append("ours")
                if not skipped:
                    programs.append([crate, shape, str(links), str(turn)])
                if turn % 2:
                    programs.reverse()
                for program in programs:
                    _record(records, _round(program), seen, links=links, data=name)
    return skipped
