"""Typical uses of Redis, and links, on pg_doublets beside Redis itself."""
import os
import shutil
import subprocess
import time

from harness.server import last_core, on_core

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# links that are there all the time, operations of a task, rounds
PLANS = {"tiny": (1000, 200, 1), "short": (100000, 1000, 3), "quick": (100000, 3000, 5), "full": (1000000, 20000, 9)}

TABLE = """
CREATE SCHEMA {schema}; SET search_path = {schema};
CREATE TABLE links (id bigint PRIMARY KEY, from_id bigint, to_id bigint, type_id bigint NOT NULL, UNIQUE (from_id, to_id)) USING {am};
CREATE INDEX ON links (to_id, from_id);
CREATE INDEX ON links (type_id, id);
CREATE SEQUENCE links_id_seq START 10000000;
"""


def _start_redis(folder):
    """A Redis of our own on a Unix socket, with the promise that synchronous_commit = off gives: at most a second is lost."""
    os.makedirs(folder)
    path = os.path.join(folder, "socket")
    with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--dir", folder, "--save", "", "--appendonly", "yes",
                                    "--appendfsync", "everysec", "--daemonize", "no"], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                   preexec_fn=on_core(last_core()))
    for _ in range(100):
        if os.path.exists(path):
            return process, path
        time.sleep(0.1)
    process.kill()
    raise RuntimeError(f"redis-server does not start: see {folder}/log")


def run(server, records, size, say):
    if not shutil.which("redis-server"):
        return ["Redis: no redis-server here"]
    background, elements, rounds = PLANS[size]
    pairs = []
    for name, am in (("doublets", "doublets"), ("heap", "heap")):
        server.sql(f"DROP SCHEMA IF EXISTS redis_{name} CASCADE;" + TABLE.format(schema="redis_" + name, am=am))
        pairs += [name, server.conninfo("redis_" + name, synchronous_commit="off")]
    server.pin(last_core())
    process, path = _start_redis(os.path.join(server.folder, "redis"))
    try:
        say(f"redis: {background} links, {elements} operations, {rounds} rounds")
        done = subprocess.run([os.path.join(HERE, "build", "redis"), path, str(background), str(elements), str(rounds), *pairs],
                              capture_output=True, text=True, check=False, preexec_fn=on_core(last_core()))
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
    finally:
        server.pin(None)
        process.terminate()
        process.wait()
    faults = server.value("SELECT count(*) FROM doublets_check('links')", "redis_doublets")
    if faults != "0":
        raise AssertionError(f"doublets_check finds {faults} faults")
    for line in done.stdout.splitlines():
        task, mode, who, figure = line.split("\t")
        records.add("redis", task, who, float(figure), "per second", higher=True, data=mode, links=background)
    return []
