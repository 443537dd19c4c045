"""Selections as SQL: rows as JSON, relationships as lateral joins, aggregates, order and limits."""
import hashlib

from ..graphql import GraphqlError
from .binding import literal
from .expression import TRUE, both

_ORDER = {"asc": "ASC NULLS LAST", "desc": "DESC NULLS FIRST", "asc_nulls_last": "ASC NULLS LAST",
          "asc_nulls_first": "ASC NULLS FIRST", "desc_nulls_last": "DESC NULLS LAST", "desc_nulls_first": "DESC NULLS FIRST"}
_AGGREGATES = ("sum", "avg", "max", "min", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp")
_ARGUMENTS = ("where", "order_by", "limit", "offset", "distinct_on")


def quoted(name):
    """An identifier; one that PostgreSQL would cut is named by its hash."""
    if len(name) > 63:
        name = "h_" + hashlib.md5(name.encode()).hexdigest()
    return f'"{name}"'


class Order:
    """order_by taken apart: what the base can sort by itself, or what only the joined rows can."""

    def __init__(self, out):
        self.out = out
        self.items = []      # (column of the joined rows, direction)
        self.base = []       # (column of the table, direction), or None where a relationship is among them
        self.extract = {}    # column of the joined rows -> expression
        self.joins = {}      # name -> subquery
        self.taken = set()   # names that the selection uses for joins of its own

    def clause(self):
        return ", ".join(f"{quoted(c)} {d}" for c, d in self.items)


class Selections:
    def __init__(self, model, expressions):
        self.model, self.expressions = model, expressions
        self.binding, self.role = expressions.binding, expressions.role

    # Entry points: each gives "SELECT ... AS "root"".

    def rows(self, field, table, path, out="root", prefix="_root", base=None, join=(), where=None, also=""):
        """A list of rows. base: what to read instead of the table (the rows that a mutation returned); where: a condition
        beside the request's; also: a column beside the rows."""
        self._known(field, path, _ARGUMENTS)
        order = self._order(table, field, prefix, out, path)
        inner = self._inner(field, table, path, out, prefix, order, base, join, where)
        sort = f" ORDER BY {order.clause()}" if order.items else ""
        return (f"SELECT coalesce(json_agg({quoted(out)}{sort} ), '[]' ) AS {quoted(out)}{also} "
                f"FROM ({inner}) AS {quoted(prefix)}")

    def one(self, field, table, path, where=None, base=None):
        """The first row or null: by primary key, or of a mutation's."""
        order = Order("root")
        inner = self._inner(field, table, path, "root", "_root", order, base, (), where)
        return f"SELECT coalesce((json_agg(\"root\" )->0), 'null' ) AS \"root\" FROM ({inner}) AS \"_root\""

    def by_key(self, field, table, path):
        self._known(field, path, table.key)
        tests = []
        for column in table.key:
            if column not in field.args:
                raise GraphqlError(f"missing required field '{column}'", f"{path}.args")
            value = self.binding.scalar(field.args[column], table.columns[column], f"{path}.args.{column}")
            tests.append(f'(({table.sql}."{column}") = {value})')
        return self.one(field, table, path, both(tests))

    def aggregate(self, field, table, path, out="root", prefix="_root", join=()):
        self._known(field, path, _ARGUMENTS)
        order = self._order(table, field, prefix, out, path)
        permission = table.permission(self.role, "select") or {}
        if self.role != "admin" and not permission.get("allow_aggregations"):
            raise GraphqlError(f"field '{field.name}' not found in type: 'query_root'", path)
        parts, extract, joins = [], dict(order.extract), dict(order.joins)
        for f in field.selection:
            if f.name == "nodes":
                nodes = f"{out}.f.{f.alias}"
                row, more = self._row(f.selection, table, f"{path}.selectionSet.nodes", prefix)
                extract[nodes] = row
                joins.update(more)
                parts.append((f.alias, self._nodes(nodes, order, permission)))
            elif f.name == "aggregate":
                parts.append((f.alias, self._figures(f, table, path, out, prefix, extract)))
            elif f.name == "__typename":
                parts.append((f.alias, literal(f"{table.root}_aggregate")))
            else:
                raise GraphqlError(f"field '{f.name}' not found in type: '{table.root}_aggregate'", f"{path}.selectionSet.{f.name}")
        base, above = self._base(field, table, path, order, None, join, None, limited=False)
        columns = ", ".join(f"{e} AS {quoted(c)}" for c, e in extract.items()) or "1"
        sort = f" ORDER BY {order.clause()}" if order.items else ""
        inner = f"SELECT {columns} FROM ({base}) AS {quoted(prefix + '.base')}{self._joined(joins)}{sort}{above}"
        return f"SELECT {self._object(parts)} AS {quoted(out)} FROM ({inner}) AS {quoted(prefix)}"

    # Parts.

    def _known(self, field, path, known):
        for argument in field.args:
            if argument not in known:
                raise GraphqlError(f"'{field.name}' has no argument named '{argument}'", f"{path}.{field.name}")

    @staticmethod
    def _object(parts):
        return "json_build_object(" + ", ".join(f"{literal(name)}, {sql}" for name, sql in parts) + " )"

    def _nodes(self, column, order, permission):
        sort = f" ORDER BY {order.clause()}" if order.items else ""
        limit = permission.get("limit")
        if limit is None:
            return f"coalesce(json_agg({quoted(column)}{sort} ), '[]' )"
        # a role's limit counts for the nodes, not for the figures
        return (f"(SELECT coalesce(json_agg(\"_sub_query\".{quoted(column)} ), '[]' ) FROM "
                f"(SELECT \"_unnest_table\".{quoted(column)} AS {quoted(column)} FROM UNNEST(array_agg({quoted(column)}{sort})) "
                f"AS \"_unnest_table\"({quoted(column)}) LIMIT {limit} ) AS \"_sub_query\" )")

    def _figures(self, field, table, path, out, prefix, extract):
        parts = []

        def column(name):
            self.expressions.readable(table, name, f"{table.root}_aggregate_fields")
            extract[f"{out}.pg.{name}"] = f"{quoted(prefix + '.base')}.\"{name}\""
            return f"{quoted(prefix)}.{quoted(f'{out}.pg.{name}')}"

        for f in field.selection:
            if f.name == "count":
                columns = f.args.get("columns") or []
                columns = columns if isinstance(columns, list) else [columns]
                if not columns:
                    parts.append((f.alias, "COUNT(*)"))
                else:
                    distinct = "DISTINCT " if f.args.get("distinct") else ""
                    parts.append((f.alias, f"COUNT({distinct}({', '.join(column(c) for c in columns)}))"))
            elif f.name in _AGGREGATES:
                inner = [(g.alias, f"{f.name}({column(g.name)})") for g in f.selection]
                parts.append((f.alias, self._object(inner)))
            elif f.name == "__typename":
                parts.append((f.alias, literal(f"{table.root}_aggregate_fields")))
            else:
                raise GraphqlError(f"field '{f.name}' not found in type: '{table.root}_aggregate_fields'", path)
        return self._object(parts)

    def _row(self, selection, table, path, prefix):
        """One row as JSON, and the joins that it reads."""
        columns, joins = [], {}
        base = quoted(prefix + ".base")
        last = "root" if prefix == "_root" else prefix.rsplit(".", 1)[1]
        for f in selection:
            at = f"{path}.{f.name}"
            if f.name in table.columns:
                self.expressions.readable(table, f.name, table.root)
                columns.append((f'{base}."{f.name}"', f.alias))
            elif f.name == "__typename":
                columns.append((f"({literal(table.root)})::text", f.alias))
            elif f.name in table.computed:
                columns.append((self._computed(f, table, at, prefix, last, joins), f.alias))
            else:
                columns.append((self._related(f, table, at, prefix, last, joins), f.alias))
        inner = ", ".join(f"{sql} AS {quoted(alias)}" for sql, alias in columns)
        return f'row_to_json((SELECT "_e" FROM (SELECT {inner} ) AS "_e" ) )', joins

    def _related(self, f, table, path, prefix, last, joins):
        plain = f.name[:-len("_aggregate")] if f.name.endswith("_aggregate") else f.name
        rel = table.relationships.get(f.name) or table.relationships.get(plain)
        if rel is None or (rel.name != f.name and not rel.array):
            raise GraphqlError(f"field '{f.name}' not found in type: '{table.root}'", path)
        join = [(f'({quoted(prefix + ".base")}."{mine}")', theirs) for mine, theirs in rel.mapping.items()]
        if rel.array:
            name = f"{prefix}.ar.{last}.{f.alias}"
            make = self.rows if rel.name == f.name else self.aggregate
            joins[name] = make(f, rel.remote, f"{path}.selectionSet", f.alias, name, join=join)
        else:
            name = f"{prefix}.or.{f.alias}"
            base, _ = self._base(f, rel.remote, path, Order("x"), None, join, None, limit=1)
            row, more = self._row(f.selection, rel.remote, f"{path}.selectionSet", name)
            joins[name] = f"SELECT {row} AS {quoted(f.alias)} FROM ({base}) AS {quoted(name + '.base')}{self._joined(more)}"
        return f"{quoted(name)}.{quoted(f.alias)}"

    def _computed(self, f, table, path, prefix, last, joins):
        c = table.computed[f.name]
        permission = table.permission(self.role, "select")
        if permission and f.name not in permission.get("computed_fields", []):
            raise GraphqlError(f"field '{f.name}' not found in type: '{table.root}'", path)
        given = f.args.get("args") or {}
        arguments = []
        for name, type_name in c.arguments:
            if name == c.session_argument:
                arguments.append(self.binding.session_json())
            elif type_name is None:
                arguments.append(quoted(prefix + ".base"))
            else:
                arguments.append(self.binding.scalar(given[name], type_name, f"{path}.args.{name}"))
        call = f'"{c.schema}"."{c.function}"({", ".join(arguments)})'
        if not c.returns_rows:
            return call
        name = f"{prefix}.ar.{last}.{f.alias}"
        inner_field = type(f)(f.name, f.alias, {k: v for k, v in f.args.items() if k != "args"}, f.selection)
        joins[name] = self.rows(inner_field, table, path, f.alias, name, base=(call, f'"_{c.function}"'))
        return f"{quoted(name)}.{quoted(f.alias)}"

    @staticmethod
    def _joined(joins):
        return "".join(f" LEFT OUTER JOIN LATERAL ({sql}) AS {quoted(name)} ON ('true')" for name, sql in joins.items())

    def _inner(self, field, table, path, out, prefix, order, base, join, where=None):
        source, above = self._base(field, table, path, order, base, join, where)
        row, joins = self._row(field.selection, table, f"{path}.selectionSet", prefix)
        joins.update(order.joins)
        extract = "".join(f", {e} AS {quoted(c)}" for c, e in order.extract.items())
        sort = f" ORDER BY {order.clause()}" if order.items else ""
        return f"SELECT {row} AS {quoted(out)}{extract} FROM ({source}) AS {quoted(prefix + '.base')}{self._joined(joins)}{sort}{above}"

    def _base(self, field, table, path, order, base, join, where, limit=None, limited=True):
        """The rows to start from, and the limit that has to stand above the joins instead of here."""
        args = field.args
        source, ref = base or (table.sql, table.sql)
        tests = [f'({mine} = ("{theirs}"))' for mine, theirs in join]
        if base is None:
            tests.append(self.expressions.permitted(table, "select", ref))
        if where is not None:
            tests.append(where)
        if limit is None:
            tests.append(self.expressions.where(table, args.get("where"), ref, f"{path}.args.where"))
        permission = table.permission(self.role, "select") or {}
        most = limit
        if limit is None:
            most = args.get("limit")
            for value in (most, args.get("offset")):
                if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                    raise GraphqlError("expecting a non-negative integer", f"{path}.args.limit")
            if limited and permission.get("limit") is not None and base is None:
                most = permission["limit"] if most is None else min(most, permission["limit"])
        cut = (f" LIMIT {most}" if most is not None else "")
        offset = args.get("offset") if limit is None else None
        cut += f" OFFSET {offset}" if offset else ""
        distinct = args.get("distinct_on") if limit is None else None
        select, sort = "*", ""
        if distinct:
            distinct = distinct if isinstance(distinct, list) else [distinct]
            wanted = [c for c, _ in (order.base or [])][:len(distinct)]
            if order.items and sorted(wanted) != sorted(map(str, distinct)):
                raise GraphqlError('"distinct_on" columns must match initial "order_by" columns', f"{path}.args")
            select = "DISTINCT ON (" + ", ".join(f'"{c}"' for c in distinct) + ") *"
        if order.items and order.base is not None:
            sort = " ORDER BY " + ", ".join(f'"{c}" {d}' for c, d in order.base)
        above = ""
        if order.items and order.base is None:
            cut, above = "", cut
        named = f" AS {ref}" if base and base[0] != ref else ""
        return f"SELECT {select} FROM {source}{named} WHERE {both(tests)}{sort}{cut}", above

    def _order(self, table, field, prefix, out, path):
        given, path = field.args.get("order_by"), f"{path}.args.order_by"
        order = Order(out)
        order.taken = {f.alias for f in field.selection}
        for item in (given if isinstance(given, list) else [given] if given else []):
            for key, value in item.items():
                self._order_item(order, table, key, value, prefix, out, path)
        plain = [c for c in order.items if c[0] in order.extract and order.extract[c[0]].startswith(quoted(prefix + ".base"))]
        if len(plain) == len(order.items):
            order.base = [(c.rsplit(".", 1)[1], d) for c, d in order.items]
        else:
            order.base = None
        return order

    def _order_item(self, order, table, key, value, prefix, out, path):
        if key in table.columns:
            self.expressions.readable(table, key, f"{table.root}_order_by")
            name = f"{out}.pg.{key}"
            order.extract[name] = f'{quoted(prefix + ".base")}."{key}"'
            order.items.append((name, self._direction(value, path)))
            return
        plain = key[:-len("_aggregate")] if key.endswith("_aggregate") else key
        rel = table.relationships.get(key) or table.relationships.get(plain)
        if rel is None:
            raise GraphqlError(f"field '{key}' not found in type: '{table.root}_order_by'", path)
        join = [(f'({quoted(prefix + ".base")}."{mine}")', theirs) for mine, theirs in rel.mapping.items()]
        tests = both([f'({mine} = ("{theirs}"))' for mine, theirs in join]
                     + [self.expressions.permitted(rel.remote, "select", rel.remote.sql)])
        if rel.array:
            name = f"{prefix}.ar.ob.{key}"
            (figure, direction), = value.items()
            call = "COUNT(*)"
            if figure != "count":
                (column, direction), = direction.items()
                call = f'{figure}("{column}")'
            result = f"{out}.ar.ob.{key}.{figure}"
            order.joins[name] = (f"SELECT {call} AS {quoted(result)} FROM {rel.remote.sql} WHERE {tests}")
            order.extract[result] = f"{quoted(name)}.{quoted(result)}"
            order.items.append((result, self._direction(direction, path)))
            return
        name = f"{prefix}.or.{key}"
        deeper = Order(out)
        for k, v in value.items():
            self._order_item(deeper, rel.remote, k, v, name, f"{out}.or.{key}", path)
        columns = ", ".join(f"{e} AS {quoted(c)}" for c, e in deeper.extract.items())
        base = f"{name}.base"
        if key in order.taken or name in order.joins:
            name = f"{name}.ob{len(order.joins)}"  # an engine would share the selection's join of this relationship
        order.joins[name] = (f"SELECT {columns} FROM (SELECT * FROM {rel.remote.sql} WHERE {tests} LIMIT 1 ) AS "
                             f"{quoted(base)}{self._joined(deeper.joins)}")
        for c, d in deeper.items:
            order.extract[c] = f"{quoted(name)}.{quoted(c)}"
            order.items.append((c, d))

    @staticmethod
    def _direction(value, path):
        if value not in _ORDER:
            raise GraphqlError(f"unexpected value \"{value}\" for enum: 'order_by'", path)
        return _ORDER[value]
