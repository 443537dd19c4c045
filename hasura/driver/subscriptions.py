"""Subscriptions against concurrent writers: live queries of many subscribers in one statement, and streams by cursor.

Writers change pairs of links, one in each of two groups, with several statements in one mutation. Subscribers watch one
group each. A poll that shows one link of a pair without the other, or the two in different states, is torn; a poll that
shows a pair in an earlier state than the poll before it went back in time."""
import collections
import json
import random
import threading
import time
import uuid

from . import libpq
from .replay import live

GROUPS = 20
LIVE = "subscription ($from: bigint) { links(where: {from_id: {_eq: $from}, type_id: {_gte: 1}}, order_by: {id: asc}) { id from_id to_id type_id } }"
STREAM = ("subscription { links_stream(cursor: {initial_value: {id: 0}, ordering: ASC}, batch_size: 7, "
          "where: {from_id: {_eq: 5000}}) { id to_id } }")


class Writer(threading.Thread):
    """Makes, changes, moves and removes pairs. pairs: what it committed: number -> (group, group, state)."""

    def __init__(self, endpoint, number, until):
        super().__init__(daemon=True)
        self.endpoint, self.until, self.random = endpoint, until, random.Random(number)
        self.next, self.pairs, self.mutations, self.failure = 10_000_000 * (number + 1), {}, 0, None

    def run(self):
        try:
            while time.monotonic() < self.until:
                self._one()
                self.mutations += 1
        except Exception as e:  # the caller reports it
            self.failure = e

    def _one(self):
        r = self.random
        if len(self.pairs) < 30 or r.random() < 0.25:
            pair, (a, b) = self.next, r.sample(range(1, GROUPS + 1), 2)
            self.next += 1
            self._send(f"mutation {{ a: insert_links_one(object: {{from_id: {a}, to_id: {pair}, type_id: 1}}) {{ id }} "
                       f"b: insert_links_one(object: {{from_id: {b}, to_id: {pair}, type_id: 1}}) {{ id }} }}")
            self.pairs[pair] = (a, b, 1)
            return
        pair = r.choice(list(self.pairs))
        a, b, state = self.pairs[pair]
        kind = r.random()
        if kind < 0.25 and len(self.pairs) > 20:
            self._send(f"mutation {{ a: delete_links(where: {{from_id: {{_eq: {a}}}, to_id: {{_eq: {pair}}}}}) {{ affected_rows }} "
                       f"b: delete_links(where: {{to_id: {{_eq: {pair}}}}}) {{ affected_rows }} }}")
            del self.pairs[pair]
        elif kind < 0.65:
            where = "where: {from_id: {_eq: %d}, to_id: {_eq: %d}}, _inc: {type_id: 1}"
            self._send(f"mutation {{ update_links_many(updates: [{{{where % (a, pair)}}}, {{{where % (b, pair)}}}]) {{ affected_rows }} }}")
            self.pairs[pair] = (a, b, state + 1)
        elif kind < 0.9:
            c, d = r.sample(range(1, GROUPS + 1), 2)
            # by way of a group that nobody watches, so that no order of the two makes them meet
            self._send(f"mutation {{ a: update_links(where: {{from_id: {{_eq: {a}}}, to_id: {{_eq: {pair}}}}}, _set: {{from_id: -1}}, _inc: {{type_id: 1}}) {{ affected_rows }} "
                       f"b: update_links(where: {{from_id: {{_eq: {b}}}, to_id: {{_eq: {pair}}}}}, _set: {{from_id: {d}}}, _inc: {{type_id: 1}}) {{ affected_rows }} "
                       f"c: update_links(where: {{from_id: {{_eq: -1}}, to_id: {{_eq: {pair}}}}}, _set: {{from_id: {c}}}) {{ affected_rows }} }}")
            self.pairs[pair] = (c, d, state + 1)
        else:
            # fails in its last statement: nothing of it may ever be seen
            answer = json.loads(self.endpoint.request(
                f"mutation {{ a: update_links(where: {{to_id: {{_eq: {pair}}}, from_id: {{_eq: {a}}}}}, _inc: {{type_id: 1000}}) {{ affected_rows }} "
                f"b: delete_links(where: {{to_id: {{_eq: {pair}}}, from_id: {{_eq: {b}}}}}) {{ affected_rows }} "
                f"c: insert_links_one(object: {{from_id: 1}}) {{ id }} }}"))
            if "errors" not in answer:
                raise AssertionError("a link without a type was accepted")

    def _send(self, request):
        answer = json.loads(self.endpoint.request(request))
        if "errors" in answer:
            raise AssertionError(f"{request}: {answer['errors']}")


class Poller(threading.Thread):
    """Polls as an engine does: all subscribers in one statement. With an endpoint that cannot, all groups in one query."""

    def __init__(self, endpoint, until, apart=False):
        super().__init__(daemon=True)
        self.endpoint, self.until, self.apart = endpoint, until, apart
        self.polls, self.torn, self.back, self.failure, self.last = 0, [], [], None, {}
        self.ids = [str(uuid.UUID(int=i)) for i in range(1, GROUPS + 1)]
        if hasattr(endpoint, "multiplexed"):
            self.sql, synthetic = endpoint.multiplexed(LIVE, ["from"])
            self.variables = [live.variables({"from": str(g)}, synthetic) for g in range(1, GROUPS + 1)]

    def run(self):
        try:
            while time.monotonic() < self.until:
                self._check(self.poll())
                self.polls += 1
        except Exception as e:
            self.failure = e

    def poll(self):
        if self.apart:
            return [link for group in range(1, GROUPS + 1) for link in json.loads(self.endpoint.request(
                "query { links(where: {from_id: {_eq: %d}, type_id: {_gte: 1}}) { id from_id to_id type_id } }" % group))["data"]["links"]]
        if not hasattr(self.endpoint, "multiplexed"):
            answer = json.loads(self.endpoint.request(
                "query { links(where: {from_id: {_gte: 1, _lte: %d}, type_id: {_gte: 1}}, order_by: {id: asc}) { id from_id to_id type_id } }" % GROUPS))
            return answer["data"]["links"]
        params = [(libpq.UUID_ARRAY, live.array(self.ids).encode(), False), (libpq.JSON_ARRAY, live.array(self.variables).encode(), False)]
        rows = self.endpoint.conn.prepared(self.sql, params)
        out = []
        for subscriber, result in rows:
            found = json.loads(result)["links"]
            group = self.ids.index(subscriber) + 1
            if any(link["from_id"] != group for link in found):
                self.torn.append(f"a subscriber of group {group} was sent another's links")
            out += found
        return out

    def _check(self, links):
        pairs = collections.defaultdict(list)
        for link in links:
            pairs[link["to_id"]].append((link["from_id"], link["type_id"]))
        for pair, both in pairs.items():
            if len(both) != 2 or both[0][1] != both[1][1]:
                self.torn.append(f"pair {pair}: {both}")
            elif both[0][1] < self.last.get(pair, 0):
                self.back.append(f"pair {pair}: {both} after state {self.last[pair]}")
            self.last[pair] = max(self.last.get(pair, 0), both[0][1])


def live_queries(connect, seconds, writers=3, pollers=2):
    """connect makes an endpoint. Yields (what, whether it holds); the counts are in the texts."""
    until = time.monotonic() + seconds
    writing = [Writer(connect(), i, until) for i in range(writers)]
    polling = [Poller(connect(), until) for _ in range(pollers)]
    control = Poller(connect(), until, apart=True)
    everyone = writing + polling + [control]
    for t in everyone:
        t.start()
    for t in everyone:
        t.join()
    for t in everyone:
        if t.failure:
            yield f"no failure: {t.failure!r}", False
    polls, mutations = sum(p.polls for p in polling), sum(w.mutations for w in writing)
    torn, back = sum((p.torn for p in polling), []), sum((p.back for p in polling), [])
    yield f"{polls} polls of {GROUPS} subscribers beside {mutations} mutations", polls > 0 and mutations > 0
    yield f"no poll is torn ({len(torn)} are: {torn[:3]})", not torn
    yield f"polls of one statement for each subscriber are torn ({len(control.torn)} times): this test can see it", bool(control.torn)
    yield f"no poll goes back in time ({len(back)} do: {back[:3]})", not back
    expected = sorted((g, pair, state) for w in writing for pair, (a, b, state) in w.pairs.items() for g in (a, b))
    final = Poller(connect(), 0).poll()
    yield f"at the end the {len(expected)} links are there that the writers left", sorted(
        (x["from_id"], x["to_id"], x["type_id"]) for x in final) == expected


def streams(connect, seconds, subscribers=5):
    """A writer adds links in order, some in transactions that fail; subscribers start at different places."""
    until = time.monotonic() + seconds
    endpoint, reader = connect(), connect()
    committed, failure = [], []

    def write():
        r, n = random.Random(1), 0
        try:
            while time.monotonic() < until:
                rows = ", ".join(f"{{from_id: 5000, to_id: {n + i}, type_id: 1}}" for i in range(r.randint(1, 10)))
                bad = ", {from_id: 5000}" if r.random() < 0.2 else ""
                answer = json.loads(endpoint.request(f"mutation {{ insert_links(objects: [{rows}{bad}]) {{ returning {{ id to_id }} }} }}"))
                if bool(bad) != ("errors" in answer):
                    raise AssertionError(str(answer))
                if not bad:
                    committed.extend((x["id"], x["to_id"]) for x in answer["data"]["insert_links"]["returning"])
                    n += 10
        except Exception as e:
            failure.append(e)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    sql, synthetic = reader.multiplexed(STREAM)
    ids = [str(uuid.UUID(int=i + 1)) for i in range(subscribers)]
    first = int(reader.conn.value("SELECT last_value FROM links_id_seq"))
    cursors, seen, polls = [str(first + 20 * i) for i in range(subscribers)], [[] for _ in range(subscribers)], 0
    starts, quiet = list(map(int, cursors)), 0
    while quiet < 2:
        done = not writer.is_alive()
        params = [(libpq.UUID_ARRAY, live.array(ids).encode(), False), (libpq.JSON_ARRAY, live.array(
            [live.variables(synthetic=synthetic, cursor={"id": c}) for c in cursors]).encode(), False)]
        news = 0
        for subscriber, result, cursor in reader.conn.prepared(sql, params):
            i = ids.index(subscriber)
            rows = json.loads(result)["links_stream"]
            news += len(rows)
            seen[i] += [(x["id"], x["to_id"]) for x in rows]
            cursors[i] = json.loads(cursor)["id"] or cursors[i]
        polls += 1
        quiet = quiet + 1 if done and not news else 0
    writer.join()
    yield f"no failure ({failure})", not failure
    for i in range(subscribers):
        wanted = [x for x in committed if x[0] > starts[i]]
        yield f"subscriber {i + 1} got {len(seen[i])} links once and in order", seen[i] == wanted and len(wanted) > 0
    yield f"in {polls} polls", polls > 0
