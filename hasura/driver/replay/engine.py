"""An endpoint that replays: takes a GraphQL request and gives the response that an engine would, by an engine's statements."""
import json

from .. import libpq
from ..graphql import GraphqlError, parse
from . import live
from .binding import Inline, Multiplexed, Prepared, literal
from .expression import Expressions
from .model import Model
from .mutation import CHECK_FAILED, CheckFailed, Mutations
from .selection import Selections

_VIOLATIONS = {"23505": "Uniqueness violation. ", "23503": "Foreign key violation. ", "23502": "Not-NULL violation. ",
               "23514": "Check constraint violation. ", "23P01": "Exclusion constraint violation. "}
_TRACE = '{"trace_id":"00000000000000000000000000000001","span_id":"0000000000000002"}'


class Endpoint:
    """One session of a database, with the metadata's tables. Answers as text, so that what is timed is what an engine would send."""

    kind = "replay of Hasura's statements through libpq"

    def __init__(self, conninfo, metadata=None):
        self.conninfo = conninfo
        self.conn = libpq.Connection(conninfo)
        self.model = Model(self.conn, metadata)
        self.log = None

    def close(self):
        self.conn.close()

    def request(self, query, variables=None, role="admin", user=None):
        """The text of the response."""
        session = {"x-hasura-role": role}
        if user is not None:
            session["x-hasura-user-id"] = str(user)
        try:
            operation = parse(query, variables)
            run = self._mutation if operation.kind == "mutation" else self._query
            if operation.kind == "subscription":
                raise GraphqlError("subscriptions are not supported over HTTP, use websockets instead")
            parts = run(operation, session)
        except GraphqlError as e:
            return self._error(str(e), e.path, e.code)
        except CheckFailed:
            return self._error(CHECK_FAILED, "$", "permission-error")
        except libpq.PgError as e:
            return self._database_error(e)
        return '{"data":{' + ",".join(f"{json.dumps(alias)}:{text}" for alias, text in parts) + "}}"

    def statement(self, field, session, binding=None):
        """The SELECT of a query's root field, and its parameters."""
        role = session["x-hasura-role"]
        binding = binding or Prepared(session)
        selections = Selections(self.model, Expressions(self.model, binding, role))
        path = f"$.selectionSet.{field.name}"
        for ending, make in (("_by_pk", selections.by_key), ("_aggregate", selections.aggregate), ("", selections.rows)):
            root = field.name[:-len(ending)] if ending else field.name
            table = self.model.roots.get(root)
            if field.name.endswith(ending) and table is not None and table.permission(role, "select") is not None:
                return make(field, table, path), binding.params
        raise GraphqlError(f"field '{field.name}' not found in type: 'query_root'", path)

    def _query(self, operation, session):
        parts = []
        for field in operation.selection:
            if field.name == "__typename":
                parts.append((field.alias, '"query_root"'))
                continue
            sql, params = self.statement(field, session)
            self._note(sql)
            parts.append((field.alias, self.conn.prepared(sql, params)[0][0]))
        return parts

    def _mutation(self, operation, session):
        def new_builders():
            expressions = Expressions(self.model, Inline(session), session["x-hasura-role"])
            return expressions, Selections(self.model, expressions)

        mutations = Mutations(self.model, new_builders, session["x-hasura-role"], self._run)
        self.conn.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        try:
            self.conn.execute(f'SET LOCAL "hasura.tracecontext" = {literal(_TRACE)}')
            self.conn.execute(f'SET LOCAL "hasura.user" = {literal(json.dumps(session, separators=(",", ":")))}')
            parts = [(f.alias, mutations.field(f, f"$.selectionSet.{f.name}")) for f in operation.selection]
            self.conn.execute("COMMIT")
            return parts
        except BaseException:
            self.conn.execute("ABORT")
            raise

    def _run(self, sql):
        self._note(sql)
        return self.conn.unprepared(sql)

    def _note(self, sql):
        if self.log is not None:
            self.log.append(sql)

    def multiplexed(self, query, names=(), role="admin"):
        """The statement of a subscription for many subscribers, ($1 uuid[], $2 json[]) to (id, result[, cursor]), and
        its synthetic variables. names: the variables that the query declares."""
        binding = Multiplexed()
        operation = parse(query, dict.fromkeys(names), keep_variables=True)
        return live.statement(self, operation, binding, role), binding.synthetic

    @staticmethod
    def _error(message, path, code):
        return json.dumps({"errors": [{"message": message, "extensions": {"path": path, "code": code}}]})

    def _database_error(self, e):
        state = e.sqlstate or ""
        if state in _VIOLATIONS:
            return self._error(_VIOLATIONS[state] + str(e), "$", "constraint-violation")
        if state[:2] == "22":
            return self._error(str(e), "$", "data-exception")
        if state == "40001":
            return self._error(str(e), "$", "postgres-error")
        return json.dumps({"errors": [{"message": "database query error", "extensions": {
            "path": "$", "code": "unexpected", "internal": {"error": {"status_code": state, "message": str(e)}}}}]})
