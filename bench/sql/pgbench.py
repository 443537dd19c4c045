"""Runs pgbench and reads its log of transactions."""
import glob
import os
import re
import subprocess

from harness import figures
from harness.server import last_core, on_core


class Run:
    """The transactions of one run: completion times in seconds, and how long each took in microseconds."""

    def __init__(self, done):
        self.done = sorted(done)

    def settled(self, discard):
        """Without the first part of the run: the seconds in which a new backend touches its memory for the first time."""
        first, last = self.done[0][0], self.done[-1][0]
        return [d for d in self.done if d[0] >= first + min(discard, (last - first) / 4)]

    def per_second(self, discard):
        kept = self.settled(discard)
        if len(kept) < 3:
            return 1e6 * len(self.done) / sum(t for _, t in self.done)
        return (len(kept) - 1) / (kept[-1][0] - kept[0][0])


def latency(transactions, share):
    """Microseconds that this share of the transactions does not exceed."""
    return figures.percentile(sorted(t for _, t in transactions), share)


def start(server, schema, script, clients, *, transactions=None, seconds=None, settings=None, rate=None):
    """A pgbench that runs; finish() waits for it. transactions: of all clients together."""
    folder = os.path.join(server.folder, "pgbench")
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, "*")):
        os.unlink(old)
    path = os.path.join(folder, "script.sql")
    with open(path, "w", encoding="utf-8") as out:
        out.write(script)
    limit = ["-t", str(max(transactions // clients, 1))] if transactions else ["-T", str(seconds)]
    command = ["pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, os.cpu_count() or 1)), *limit,
               "-D", "k=-1", "--random-seed=20", "-l", "--log-prefix=" + os.path.join(folder, "log"), "-f", path]
    if rate:
        command += ["-R", str(rate)]
    core = last_core() if clients == 1 else None
    server.pin(core)
    return folder, subprocess.Popen(command, env=server.session(schema, **(settings or {})), text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=on_core(core))


def finish(started):
    folder, process = started
    output = process.communicate()[0]
    failed = re.search(r"number of failed transactions: (\d+)", output)
    if process.returncode or "aborted" in output or (failed and failed.group(1) != "0"):
        raise RuntimeError("pgbench: " + output[-1500:])
    done = []
    for name in glob.glob(os.path.join(folder, "log.*")):
        with open(name, encoding="utf-8") as log:
            for line in log:
                word = line.split()
                done.append((int(word[4]) + int(word[5]) / 1e6, int(word[2])))
    return Run(done)


def run(server, schema, script, clients, **how):
    try:
        return finish(start(server, schema, script, clients, **how))
    finally:
        server.pin(None)
