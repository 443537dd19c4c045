#!/usr/bin/python3
"""All benchmarks: ./run bench calls this with a private PostgreSQL that has the extension.

Writes results/<size>.json and the report in README.md; nothing, if any check fails.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of PostgreSQL's programs, with the extension installed")
    parser.add_argument("--work", required=True, help="an empty folder for the server")
    parser.add_argument("--size", choices=["tiny", "quick", "full"], default="full")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas: " + ", ".join(PARTS))
    arguments = parser.parse_args()
    wanted = [part for part in PARTS if part in arguments.only.split(",")]
    begun = time.time()

    def say(text):
        print(f"[{time.time() - begun:6.1f} s] {text}", flush=True)

    server = Server(arguments.bin, arguments.work)
    records = Records()
    skipped = []
    try:
        server.create()
        where = provenance(server)
        for part in wanted:
            say(part)
            skipped += importlib.import_module(part).run(server, records, arguments.size, say) or []
    except (AssertionError, RuntimeError) as failure:
        print(f"FAILED, nothing is reported: {failure}", file=sys.stderr)
        return 1
    finally:
        server.stop()
    where["minutes"] = round((time.time() - begun) / 60, 1)
    os.makedirs(os.path.join(HERE, "results"), exist_ok=True)
    with open(os.path.join(HERE, "results", arguments.size + ".json"), "w", encoding="utf-8") as out:
        json.dump({"size": arguments.size, "parts": wanted, "skipped": skipped, "provenance": where, "records": records.records}, out,
                  indent=None, separators=(",", ":"))
        out.write("\n")
    importlib.import_module("report").write(HERE, arguments.size)
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
