"""Latency of single updates and selects while a checkpoint or a vacuum runs."""
import subprocess
import time

from sql import pgbench, scripts
from sql.scripts import BY_NAME
from sql.variants import VARIANTS


def _windows(run, spans, discard):
    """The transactions that ended within a span, and those outside all of them."""
    settled = run.settled(discard)
    inside = {name: [t for t in settled if any(a <= t[0] <= b for a, b in times)] for name, times in spans.items()}
    every = [pair for times in spans.values() for pair in times]
    return inside, [t for t in settled if not any(a <= t[0] <= b for a, b in every)]


def measure(server, records, tables, seconds, clients, say):
    """pgbench at full speed beside CHECKPOINT and VACUUM, which take turns until it ends."""
    for name in ("update 1", "select by id"):
        script = BY_NAME[name]
        for variant in VARIANTS:
            server.sql("VACUUM links; CHECKPOINT", variant)
            started = pgbench.start(server, variant, script.pgbench(scripts.constants(tables.links, tables.types, clients)), clients,
                                    seconds=seconds, settings={"synchronous_commit": "off"})
            spans = {"CHECKPOINT": [], "VACUUM": []}
            end = time.time() + seconds - 1.0
            time.sleep(1.0)
            while time.time() < end:
                for command, target in (("CHECKPOINT", ""), ("VACUUM", " links")):
                    if name == "select by id":
                        server.sql("UPDATE links SET to_id = to_id WHERE id % 20 = 0", variant)
                    begun = time.time()
                    server.sql(command + target, variant)
                    spans[command].append((begun, time.time()))
                    time.sleep(0.3)
            try:
                run = pgbench.finish(started)
            except (RuntimeError, subprocess.SubprocessError):
                started[1].kill()
                raise
            inside, outside = _windows(run, spans, 1.0)
            for kind, transactions in [*inside.items(), ("neither", outside)]:
                if len(transactions) < 20:
                    continue
                for share in (0.5, 0.99):
                    records.add("stalls", f"{name}, p{round(share * 100)} during {kind}", variant,
                                pgbench.latency(transactions, share), "us", links=tables.links, clients=clients)
        say(f"  {name} beside checkpoints and vacuums")
