"""Conditions: boolean expressions of requests and of permissions as SQL."""
from ..graphql import Enum, GraphqlError, Variable
from .binding import literal

TRUE = "('true')"
_COMPARE = {"_eq": "=", "_neq": "<>", "_gt": ">", "_lt": "<", "_gte": ">=", "_lte": "<="}
_TEXT = {"_like": "LIKE", "_nlike": "NOT LIKE", "_ilike": "ILIKE", "_nilike": "NOT ILIKE", "_similar": "SIMILAR TO",
         "_nsimilar": "NOT SIMILAR TO", "_regex": "~", "_nregex": "!~", "_iregex": "~*", "_niregex": "!~*"}
_JSONB = {"_contains": "@>", "_contained_in": "<@", "_has_key": "?"}


def both(parts, end=None):
    """Conditions joined by AND, from the right; end closes the list, as it does inside EXISTS."""
    parts = [p for p in parts if end is not None or p != TRUE]
    if end is not None:
        parts = parts + [end]
    if not parts:
        return TRUE
    out = parts[-1]
    for part in reversed(parts[:-1]):
        out = f"({part} AND {out})"
    return out


class Expressions:
    """Builds the conditions of one statement for one role."""

    def __init__(self, model, binding, role):
        self.model, self.binding, self.role = model, binding, role
        self.exists = 0

    def where(self, table, expression, ref, path):
        """What a request asks for."""
        return self._boolean(table, expression or {}, ref, path, False, None)

    def permitted(self, table, action, ref, part="filter"):
        """What a role's permission asks for in addition."""
        permission = table.permission(self.role, action)
        if permission is None:
            raise GraphqlError(f"field '{table.root}' not found in type: 'query_root'")
        return self._boolean(table, permission.get(part) or {}, ref, "$", True, None)

    def readable(self, table, name, where):
        permission = table.permission(self.role, "select")
        if permission is None or (permission and name not in permission["columns"]):
            raise GraphqlError(f"field '{name}' not found in type: '{where}'")

    def _boolean(self, table, expression, ref, path, trusted, end):
        parts = []
        for key, value in expression.items():
            at = f"{path}.{key}"
            if key == "_and":
                parts.append(both([self._boolean(table, v, ref, at, trusted, end) for v in self._many(value)], end))
            elif key == "_or":
                inner = [self._boolean(table, v, ref, at, trusted, end) for v in self._many(value)]
                parts.append(self._either(inner))
            elif key == "_not":
                parts.append(f"(NOT {self._boolean(table, value, ref, at, trusted, end)})")
            elif key == "_exists":
                other = self.model.tables[value["_table"]["schema"], value["_table"]["name"]]
                parts.append(self._exists(other, [], value["_where"], at, trusted))
            elif key in table.relationships:
                rel = table.relationships[key]
                parts.append(self._exists(rel.remote, [(f'{ref}."{mine}"', theirs) for mine, theirs in rel.mapping.items()],
                                          value or {}, at, trusted))
            elif key in table.columns:
                if not trusted:
                    self.readable(table, key, f"{table.root}_bool_exp")
                parts.append(self._column(f'({ref}."{key}")', table.columns[key], value, at, trusted, end))
            else:
                raise GraphqlError(f"field '{key}' not found in type: '{table.root}_bool_exp'", at)
        return both(parts, end)

    @staticmethod
    def _many(value):
        return value if isinstance(value, list) else [value]

    @staticmethod
    def _either(parts):
        out = parts[-1] if parts else "('false')"
        for part in reversed(parts[:-1]):
            out = f"({part} OR {out})"
        return out

    def _exists(self, table, join, expression, path, trusted):
        alias = f'"{self.binding.alias}_{self.exists}_{table.name}"'
        self.exists += 1
        on = both([f'(({alias}."{theirs}") = ({mine}))' for mine, theirs in join], TRUE)
        inner = self._boolean(table, expression, alias, path, trusted, TRUE)
        if not trusted:
            inner = both([self._boolean(table, self._filter(table), alias, "$", True, TRUE), inner])
        return f"(EXISTS (SELECT 1 FROM {table.sql} AS {alias} WHERE ({on} AND ({TRUE} AND (({inner} AND {TRUE}))))))"

    def _filter(self, table):
        permission = table.permission(self.role, "select")
        if permission is None:
            raise GraphqlError(f"field '{table.root}' not found in type: 'query_root'")
        return permission.get("filter") or {}

    def _column(self, column, type_name, operations, path, trusted, end):
        if not isinstance(operations, dict):
            raise GraphqlError(f"expected an object for type '{type_name}_comparison_exp'", path)
        parts = []
        for op, value in operations.items():
            at = f"{path}.{op}"
            if op == "_is_null":
                parts.append(f"({column} IS {'NULL' if value else 'NOT NULL'})")
                continue
            if value is None:
                raise GraphqlError(f"unexpected null value for type '{type_name}'", at)
            if op in ("_in", "_nin"):
                test = f"({column} = ANY({self._array(value, type_name, at, trusted)}))"
                parts.append(test if op == "_in" else f"(NOT {test})")
            elif op in _COMPARE or op in _TEXT or op in _JSONB:
                sign = _COMPARE.get(op) or _TEXT.get(op) or _JSONB[op]
                other = "text" if op in _TEXT or op == "_has_key" else type_name
                parts.append(f"({column} {sign} {self._scalar(value, other, at, trusted)})")
            else:
                raise GraphqlError(f"field '{op}' not found in type: '{type_name}_comparison_exp'", at)
        return both(parts, end)

    def _scalar(self, value, type_name, path, trusted):
        if trusted and isinstance(value, str) and not isinstance(value, (Enum, Variable)) and value.lower().startswith("x-hasura-"):
            return self.binding.session(value.lower(), type_name)
        if trusted:
            return f"(({literal(value)})::{type_name})"
        return self.binding.scalar(value, type_name, path)

    def _array(self, values, type_name, path, trusted):
        array = self.binding.array(values, type_name, path)
        return array[1:-1] if not trusted else array
