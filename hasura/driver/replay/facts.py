"""Checks that the replay's statements are those that the engine sends: facts.txt holds requests with their statements."""
import pathlib
import re

from .. import libpq
from ..graphql import parse
from . import live
from .binding import Multiplexed
from .engine import Endpoint


def sections():
    title, request, statements = None, "", []
    for line in (pathlib.Path(__file__).parent / "facts.txt").read_text().splitlines() + ["## end"]:
        if line.startswith("## "):
            if title:
                yield title[0], dict(o.split("=") for o in title[1:]), request, statements
            title, request, statements = line[3:].split(), "", []
        elif line.startswith("> "):
            request += line[2:] + "\n"
        elif line and not line.startswith("#"):
            statements.append(line)


def bare(sql):
    return re.sub(r"\s", "", sql)


class _Silent(Endpoint):
    """Notes statements instead of running mutations."""

    def _run(self, sql):
        self.log.append(sql)
        return [['{"affected_rows": 0, "returning_columns": []}', "t"]]


def check(conninfo):
    """Differences, as text, and the number of statements compared."""
    endpoint = _Silent(conninfo)
    links = endpoint.model.roots["links"]
    links.permissions["select"] = {"link": {
        "columns": ["id", "from_id", "to_id", "type_id"], "limit": 999, "allow_aggregations": True,
        "filter": {"can_object": {"action_id": {"_eq": 40}, "subject_id": {"_eq": "X-Hasura-User-Id"}}}}}
    differences, compared = [], 0
    for title, options, request, expected in sections():
        endpoint.log = []
        session = {"x-hasura-role": options.get("role", "admin"), "x-hasura-user-id": options.get("user", "")}
        names = [n for n in options.get("variables", "").split(",") if n]
        operation = parse(request, dict.fromkeys(names), keep_variables=bool(names))
        if operation.kind == "query":
            got = [endpoint.statement(operation.selection[0], session)[0]]
        elif operation.kind == "subscription":
            got = [live.statement(endpoint, operation, Multiplexed(), "admin")]
        else:
            try:
                endpoint.request(request)
            except libpq.PgError:
                pass
            got = endpoint.log[:len(expected)]
        compared += len(expected)
        for i, statement in enumerate(expected):
            if i >= len(got) or bare(got[i]) != bare(statement):
                differences.append(f"{title}:\n  the engine's: {statement}\n  the replay's: {got[i] if i < len(got) else None}")
    endpoint.close()
    return differences, compared
