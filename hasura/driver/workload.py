"""The workload: eight operations of the links API on stores of several sizes, timed request by request.

The store holds B background pairs (i, i + 1). A mutation is one request for N links; a sample of a point read is N
requests, one after another. Two endpoints take turns, sample by sample, so that what else the machine does falls on both.
Setup, restoring and cleaning up are not timed; every response is checked, outside the time, before its sample counts.
Where the server runs on this machine, the processor time of its process is taken too: other load does not add to it."""
import datetime
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import time

OPERATIONS = ("create", "update", "delete", "each all", "each identity", "each concrete", "each outgoing", "each incoming")
BATCH = 1000


class Wrong(Exception):
    """A response that is not what it has to be: the measurement is void."""


class Store:
    """One endpoint with its background."""

    def __init__(self, name, endpoint, types):
        self.name, self.endpoint, self.types = name, endpoint, types
        self.size = 0

    def ask(self, request):
        answer = json.loads(self.endpoint.request(request))
        if "errors" in answer:
            raise Wrong(f"{self.name}: {request[:200]}: {answer['errors'][0]}")
        return answer["data"]

    def link(self, i):
        return {"id": i, "from_id": i, "to_id": i + 1, "type_id": 1 + i % self.types}

    def count(self):
        return self.ask("{ links_aggregate { aggregate { count } } }")["links_aggregate"]["aggregate"]["count"]

    def fill(self, size):
        """Make the background in an empty store."""
        if self.count() != 0:
            raise SystemExit(f"{self.name}: the store is not empty: {self.count()} links; this would spoil them")
        self.size = size
        conn = getattr(self.endpoint, "conn", None)
        if conn:
            # as a dump is restored: rows first, then the secondary indexes
            indexes = conn.execute("SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index "
                                   "WHERE indrelid = 'links'::regclass AND NOT indisprimary")
            for name, _ in indexes:
                conn.execute(f"DROP INDEX {name}")
            conn.execute("SET session_replication_role = replica")  # no triggers
            conn.execute(f"INSERT INTO links SELECT i, i, i + 1, 1 + i % {self.types} FROM generate_series(1, {size}) i")
            conn.execute("RESET session_replication_role")
            for _, definition in indexes:
                conn.execute(definition)
            conn.execute(f"SELECT setval('links_id_seq', {size})")
        else:
            for first in range(1, size + 1, BATCH):
                self.insert([self.link(i) for i in range(first, min(first + BATCH, size + 1))])
        self.tidy()

    def tidy(self):
        """Between operations: what autovacuum would do."""
        conn = getattr(self.endpoint, "conn", None)
        if conn:
            conn.execute("VACUUM (ANALYZE) links")

    def clear(self):
        conn = getattr(self.endpoint, "conn", None)
        if conn:
            conn.execute("TRUNCATE links")
        else:
            self.ask("mutation { delete_links(where: {}) { affected_rows } }")

    def insert(self, links, conflict=""):
        objects = ", ".join("{" + ", ".join(f"{k}: {v}" for k, v in link.items()) + "}" for link in links)
        made = self.ask(f"mutation {{ insert_links(objects: [{objects}]{conflict}) {{ affected_rows returning {{ id }} }} }}")
        if made["insert_links"]["affected_rows"] != len(links):
            raise Wrong(f"{self.name}: {made}")
        return [r["id"] for r in made["insert_links"]["returning"]]

    def remove(self, ids):
        gone = self.ask(f"mutation {{ delete_links(where: {{id: {{_in: {ids}}}}}) {{ affected_rows }} }}")
        if gone["delete_links"]["affected_rows"] != len(ids):
            raise Wrong(f"{self.name}: {gone}")

    def processor(self):
        """Seconds that the server's process has run, where that can be seen."""
        try:
            return int(open(f"/proc/{self.endpoint.conn.pid}/schedstat").read().split()[0]) / 1e9
        except (AttributeError, OSError, ValueError):
            return None

    # An operation: prepare gives the requests to time; check gets the responses; restore puts the store back.

    def sample(self, operation, n, rng):
        """Seconds by the clock, and of the server's processor."""
        prepare, check, restore = getattr(self, "_" + operation.replace(" ", "_"))(n, rng)
        requests = prepare()
        answers = []
        before = self.processor()
        start = time.perf_counter()
        for request in requests:
            answers.append(self.endpoint.request(request))
        seconds = time.perf_counter() - start
        processor = None if before is None else self.processor() - before
        data = []
        for request, answer in zip(requests, answers):
            parsed = json.loads(answer)
            if "errors" in parsed:
                raise Wrong(f"{self.name}: {request[:200]}: {parsed['errors'][0]}")
            data.append(parsed["data"])
        if not check(data):
            raise Wrong(f"{self.name}: {operation}: {str(data)[:300]}")
        restore(data)
        return seconds, processor

    def _create(self, n, rng):
        pairs = [(self.size + 10 + i,) * 2 for i in range(n)]
        objects = ", ".join(f"{{from_id: {a}, to_id: {b}, type_id: {1 + a % self.types}}}" for a, b in pairs)
        return (lambda: [f"mutation {{ insert_links(objects: [{objects}]) {{ affected_rows returning {{ id from_id to_id }} }} }}"],
                lambda d: d[0]["insert_links"]["affected_rows"] == n
                and [(r["from_id"], r["to_id"]) for r in d[0]["insert_links"]["returning"]] == pairs,
                lambda d: self.remove([r["id"] for r in d[0]["insert_links"]["returning"]]))

    def _update(self, n, rng):
        ids = rng.sample(range(1, self.size + 1), n)
        return (lambda: [f"mutation {{ update_links(where: {{id: {{_in: {ids}}}}}, _set: {{to_id: 1}}) {{ affected_rows returning {{ id to_id }} }} }}"],
                lambda d: d[0]["update_links"]["affected_rows"] == n
                and sorted(r["id"] for r in d[0]["update_links"]["returning"]) == sorted(ids)
                and all(r["to_id"] == 1 for r in d[0]["update_links"]["returning"]),
                lambda d: self.insert([self.link(i) for i in ids], ", on_conflict: {constraint: links_pkey, update_columns: [to_id]}"))

    def _delete(self, n, rng):
        ids = []

        def prepare():
            a = self.size + 10
            ids.extend(self.insert([{"from_id": a + i, "to_id": a + i, "type_id": 1 + i % self.types} for i in range(n)]))
            return [f"mutation {{ delete_links(where: {{id: {{_in: {ids}}}}}) {{ affected_rows returning {{ id }} }} }}"]

        return (prepare, lambda d: sorted(r["id"] for r in d[0]["delete_links"]["returning"]) == sorted(ids), lambda d: None)

    def _each_all(self, n, rng):
        return (lambda: ["{ links(order_by: {id: asc}) { id from_id to_id type_id } }"],
                lambda d: len(d[0]["links"]) == self.size
                and all(link == self.link(i) for i, link in enumerate(d[0]["links"], 1)),
                lambda d: None)

    def _each_identity(self, n, rng):
        ids = rng.sample(range(1, self.size + 1), n)
        return (lambda: [f"{{ links(where: {{id: {{_eq: {i}}}}}) {{ id from_id to_id type_id }} }}" for i in ids],
                lambda d: [x["links"] for x in d] == [[self.link(i)] for i in ids],
                lambda d: None)

    def _point(self, n, where):
        return (lambda: [f"{{ links(where: {{{where}}}) {{ id from_id to_id type_id }} }}"] * n,
                lambda d: all(x["links"] == [self.link(1)] for x in d),
                lambda d: None)

    def _each_concrete(self, n, rng):
        return self._point(n, "from_id: {_eq: 1}, to_id: {_eq: 2}")

    def _each_outgoing(self, n, rng):
        return self._point(n, "from_id: {_eq: 1}")

    def _each_incoming(self, n, rng):
        return self._point(n, "to_id: {_eq: 2}")


def _shell(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def provenance(endpoints, note):
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    conn = next((e.conn for e in endpoints.values() if hasattr(e, "conn")), None)
    settings = {}
    if conn:
        for name in ("server_version", "shared_buffers", "fsync", "synchronous_commit", "autovacuum", "max_wal_size", "jit"):
            settings[name] = conn.value(f"SHOW {name}")
    here = pathlib.Path(__file__).resolve().parent
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "served by": {name: e.kind for name, e in endpoints.items()}, "cpu": cpu, "cores": os.cpu_count(),
            "commit": os.environ.get("BENCH_COMMIT") or _shell("git", "-C", str(here), "rev-parse", "--short", "HEAD") or "unknown",
            "postgresql": settings, "python": platform.python_version(), "note": note}


def _one_core(endpoints):
    """
    Put this process and its sessions on one core, if they are on this machine and the user may. Left to itself the kernel has them now
    on one, now on two, and waking the other one takes several times longer than a point read.
    """
    core = max(os.sched_getaffinity(0))
    try:
        for e in endpoints.values():
            os.sched_setaffinity(e.conn.pid, {core})
        os.sched_setaffinity(0, {core})
        return True
    except (AttributeError, OSError):
        return False


def run(endpoints, path, sizes, n=100, samples=10, warmups=2, types=10, variant="links", operations=OPERATIONS, note="", say=print):
    """Measure what the file at path does not have yet, and keep it there: a run that was stopped goes on where it stopped."""
    path = pathlib.Path(path)
    results = json.loads(path.read_text()) if path.exists() else {"runs": []}
    known = {(r["variant"], r["size"], r["operation"]) for r in results["runs"]}
    stores = [Store(name, e, types) for name, e in endpoints.items()]
    if _one_core(endpoints):
        note = "; ".join(filter(None, [note, "driver and session on one core"]))
    for size in sizes:
        wanted = [o for o in operations if (variant, size, o) not in known]
        if not wanted:
            continue
        for s in stores:
            start = time.perf_counter()
            s.fill(size)
            say(f"{variant}: {size} links in {s.name}: {time.perf_counter() - start:.1f} s", flush=True)
        for operation in wanted:
            times = {s.name: [] for s in stores}
            processor = {s.name: [] for s in stores}
            for i in range(warmups + samples):
                for s in stores if i % 2 else reversed(stores):
                    # both get the same ids
                    seconds, cpu = s.sample(operation, min(n, size), random.Random(f"{operation} {i}"))
                    if i >= warmups:
                        times[s.name].append(seconds)
                        processor[s.name] += [] if cpu is None else [cpu]
            for s in stores:
                s.tidy()
            results["runs"].append({
                "variant": variant, "size": size, "operation": operation, "n": min(n, size), "types": types, "seconds": times,
                "processor": processor,
                "provenance": provenance(endpoints, note)})
            path.write_text(json.dumps(results, indent=1) + "\n")
            say(f"  {operation}: " + ", ".join(
                f"{name} {statistics.median(t) * 1000:.3f} ms (± {statistics.stdev(t) * 1000:.3f}), processor "
                f"{statistics.median(processor[name] or [0]) * 1000:.3f}" for name, t in times.items()), flush=True)
        for s in stores:
            if s.count() != size:
                raise Wrong(f"{s.name}: {s.count()} links are left of {size}")
            s.clear()
    return results
