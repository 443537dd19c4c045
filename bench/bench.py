#!/usr/bin/python3
"""All benchmarks: ./run bench calls this with a private PostgreSQL that has the extension.

Writes results/<size>.json and the report in README.md after each part; nothing of a part in which a check fails. Parts
that were not run keep the results that they had.
"""
import argparse
import importlib
import json
import os
import sys
import time

from harness.figures import Records
from harness.provenance import provenance
from harness.server import Server

PARTS = ["store", "sql", "redis", "graph"]
HERE = os.path.dirname(os.path.abspath(__file__))


def _keep(size, part, result):
    path = os.path.join(HERE, "results", size + ".json")
    parts = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as old:
            parts = json.load(old)["parts"]
    parts[part] = result
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"size": size, "parts": {name: parts[name] for name in PARTS if name in parts}}, out, separators=(",", ":"))
        out.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of PostgreSQL's programs, with the extension installed")
    parser.add_argument("--work", required=True, help="an empty folder for the server")
    parser.add_argument("--size", choices=["tiny", "short", "quick", "full"], default="full")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas: " + ", ".join(PARTS))
    arguments = parser.parse_args()
    wanted = [part for part in PARTS if part in arguments.only.split(",")]
    begun = time.time()

    def say(text):
        print(f"[{time.time() - begun:6.1f} s] {text}", flush=True)

    server = Server(arguments.bin, arguments.work)
    try:
        server.create()
        for part in wanted:
            say(part)
            begun_part, records, where = time.time(), Records(), provenance(server)
            skipped = importlib.import_module(part).run(server, records, arguments.size, say) or []
            where["minutes"] = round((time.time() - begun_part) / 60, 1)
            _keep(arguments.size, part, {"provenance": where, "skipped": skipped, "records": records.records})
            importlib.import_module("report").write(HERE, arguments.size)
    except (AssertionError, RuntimeError) as failure:
        print(f"FAILED, nothing is reported of this part: {failure}", file=sys.stderr)
        return 1
    finally:
        server.stop()
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
