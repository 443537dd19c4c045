"""Event triggers: what they log for a large mutation, and that each event is delivered once.

Every row of a mutation fires a row trigger whose body is a block with an exception handler: a subtransaction a row."""
import json
import threading

from . import libpq

FETCH = """UPDATE hdb_catalog.event_log SET locked = now() WHERE id IN (
  SELECT l.id FROM hdb_catalog.event_log l WHERE l.delivered = 'f' AND l.error = 'f' AND l.archived = 'f'
    AND (l.locked IS NULL OR l.locked < now() - interval '30 minute')
    AND (l.next_retry_at IS NULL OR l.next_retry_at <= now())
  ORDER BY l.locked NULLS FIRST, l.next_retry_at NULLS FIRST, l.created_at LIMIT 100 FOR UPDATE SKIP LOCKED)
  RETURNING id"""
DELIVERED = "UPDATE hdb_catalog.event_log SET delivered = 't', locked = NULL WHERE id IN ({})"


def _answer(endpoint, request, **options):
    answer = json.loads(endpoint.request(request, **options))
    if "errors" in answer:
        raise AssertionError(f"{request[:100]}: {answer['errors']}")
    return answer["data"]


def _log(conn, op):
    """Events of an operation as (old, new), in order of the link."""
    rows = conn.execute("SELECT payload->'data'->>'old', payload->'data'->>'new', payload->'session_variables'->>'x-hasura-role' "
                        f"FROM hdb_catalog.event_log WHERE payload->>'op' = '{op}'")
    events = [(json.loads(o) if o else None, json.loads(n) if n else None, role) for o, n, role in rows]
    return sorted(events, key=lambda e: (e[1] or e[0])["id"])


def _next_xid(conn):
    return int(conn.value("SELECT pg_snapshot_xmax(pg_current_snapshot())"))


def exercise(endpoint, conn, n=1000):
    """Yields (what, whether it holds). The database has the links migration, the event trigger and no links."""
    links = [{"type_id": 1 + i % 5, "from_id": i, "to_id": i + 1} for i in range(n)]
    objects = ", ".join("{type_id: %(type_id)d, from_id: %(from_id)d, to_id: %(to_id)d}" % o for o in links)
    before = _next_xid(conn)
    made = _answer(endpoint, f"mutation {{ insert_links(objects: [{objects}]) {{ affected_rows returning {{ id }} }} }}")["insert_links"]
    rows = [dict(o, id=r["id"]) for o, r in zip(links, made["returning"])]
    yield "an insertion of many rows", made["affected_rows"] == n
    yield "a subtransaction for each of its rows", n + 1 <= _next_xid(conn) - before <= n + 100
    yield "an event for each insertion", _log(conn, "INSERT") == [(None, r, "admin") for r in rows]

    half = n // 2
    ids = [r["id"] for r in rows]
    changed = _answer(endpoint, f"mutation {{ update_links(where: {{id: {{_in: {ids}}}}}, _set: {{to_id: {half}}}) {{ affected_rows }} }}")
    yield "a change of many rows", changed["update_links"]["affected_rows"] == n
    yield "an event for each change that changes something", _log(conn, "UPDATE") == [
        (r, dict(r, to_id=half), "admin") for r in rows if r["to_id"] != half]

    failed = json.loads(endpoint.request(
        f"mutation {{ a: update_links(where: {{id: {{_in: {ids}}}}}, _set: {{to_id: 0}}) {{ affected_rows }} "
        f"b: insert_links_one(object: {{id: {ids[0]}, type_id: 1}}) {{ id }} }}"))
    yield "a mutation that fails leaves no event", "errors" in failed and len(_log(conn, "UPDATE")) == n - 1

    gone = _answer(endpoint, f"mutation {{ delete_links(where: {{id: {{_in: {ids}}}}}) {{ affected_rows }} }}")
    yield "a removal of many rows", gone["delete_links"]["affected_rows"] == n
    yield "an event for each removal", _log(conn, "DELETE") == [(dict(r, to_id=half), None, "admin") for r in rows]
    yield "nothing is left", conn.value("SELECT count(*) FROM links") == "0"

    fetched = _deliver(endpoint.conninfo)
    yield "each event is delivered once", sorted(fetched) == sorted(
        r[0] for r in conn.execute("SELECT id FROM hdb_catalog.event_log WHERE delivered"))
    yield "and none is left over", conn.value("SELECT count(*) FROM hdb_catalog.event_log WHERE NOT delivered") == "0"


def _deliver(conninfo, sessions=3):
    """Deliver as several engines at once do; the events that they fetched."""
    fetched, lock = [], threading.Lock()

    def work():
        conn = libpq.Connection(conninfo)
        while True:
            ids = [r[0] for r in conn.execute(FETCH)]
            if not ids:
                break
            conn.execute(DELIVERED.format(", ".join(f"'{i}'" for i in ids)))
            with lock:
                fetched.extend(ids)
        conn.close()

    threads = [threading.Thread(target=work) for _ in range(sessions)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return fetched
