"""Mutations as an engine runs them: one statement for a root field, or several where rows nest."""
import json

from ..graphql import Field, GraphqlError
from .binding import literal
from .expression import TRUE, both

CHECK_FAILED = "check constraint of an insert/update permission has failed"


class CheckFailed(Exception):
    pass


class Mutations:
    """Runs the root fields of one mutation through run, a function that takes SQL and gives rows."""

    def __init__(self, model, new_builders, role, run):
        self.model, self.new_builders, self.role, self.run = model, new_builders, role, run

    def field(self, field, path):
        """The JSON text of a root field's response."""
        for prefix, method in (("insert_", self._insert), ("update_", self._update), ("delete_", self._delete)):
            if field.name.startswith(prefix):
                name = field.name[len(prefix):]
                for ending in ("", "_one", "_by_pk", "_many"):
                    root = name[:-len(ending)] if ending else name
                    if name.endswith(ending) and root in self.model.roots:
                        table = self.model.roots[root]
                        if table.permission(self.role, prefix[:-1]) is None:
                            break
                        return method(field, table, ending, path)
        raise GraphqlError(f"field '{field.name}' not found in type: 'mutation_root'", f"$.selectionSet.{field.name}")

    # Insertion.

    def _insert(self, field, table, ending, path):
        if ending not in ("", "_one"):
            raise GraphqlError(f"field '{field.name}' not found in type: 'mutation_root'", path)
        given = field.args.get("object" if ending else "objects")
        objects = given if isinstance(given, list) else [given]
        at = f"{path}.args.{'object' if ending else 'objects'}"
        conflict = field.args.get("on_conflict")
        if not objects:
            return json.dumps({f.alias: 0 if f.name == "affected_rows" else [] for f in field.selection})
        if any(key in table.relationships for o in objects for key in o):
            total, rows = 0, []
            for o in objects:
                n, row = self._insert_nested(table, o, conflict, at, list(table.columns))
                total += n
                rows += [row] if row else []
            return self._answer_rows(field, table, ending, total, rows, path)
        statement, check = self._insert_statement(table, objects, conflict, at)
        return self._finish(field, table, ending, statement, check, path)

    def _insert_statement(self, table, objects, conflict, path):
        expressions, _ = self.new_builders()
        permission = table.permission(self.role, "insert")
        for i, o in enumerate(objects):
            for key in o:
                if key not in table.columns or (permission and key not in permission["columns"]):
                    raise GraphqlError(f"field '{key}' not found in type: '{table.root}_insert_input'", f"{path}[{i}].{key}")
        columns = [c for c in table.columns if any(c in o for o in objects)]
        if not columns:
            values = "DEFAULT VALUES"
        else:
            rows = ["(" + ", ".join(self._value(expressions, o, c, table, f"{path}[{i}].{c}") for c in columns) + ")"
                    for i, o in enumerate(objects)]
            values = "( " + ", ".join(f'"{c}"' for c in columns) + " ) VALUES " + ", ".join(rows)
        check = expressions.permitted(table, "insert", table.sql, "check")
        tail = ""
        if conflict:
            tail, updates = self._conflict(expressions, table, conflict, path)
            if updates and self.role != "admin":
                after = expressions.permitted(table, "update", table.sql, "check")
                check = f"CASE WHEN ({table.sql}.\"xmax\") = (0) THEN {check}::boolean ELSE {after}::boolean END"
                return f"INSERT INTO {table.sql} {values}{tail} RETURNING * , {check} AS \"check__constraint\"", True
        return f"INSERT INTO {table.sql} {values}{tail} RETURNING * , {check}::boolean AS \"check__constraint\"", True

    @staticmethod
    def _value(expressions, o, column, table, path):
        if column not in o:
            return "DEFAULT"
        if o[column] is None:
            return f"(NULL)::{table.columns[column]}"
        return expressions.binding.scalar(o[column], table.columns[column], path)[1:-1]

    def _conflict(self, expressions, table, conflict, path):
        name = conflict["constraint"]
        if name not in table.constraints:
            raise GraphqlError(f"unexpected value \"{name}\" for enum: '{table.root}_constraint'", path)
        columns = conflict.get("update_columns", [])
        columns = columns if isinstance(columns, list) else [columns]
        on = f' ON CONFLICT ON CONSTRAINT "{name}"'
        if not columns:
            return on + " DO NOTHING", False
        sets = ",".join(f'"{c}" = EXCLUDED."{c}"' for c in table.columns if c in columns)
        tests = [expressions.where(table, conflict.get("where"), table.sql, path)]
        if self.role != "admin":
            tests.insert(0, expressions.permitted(table, "update", table.sql))
        return f"{on} DO UPDATE SET {sets} WHERE {both(tests)}", True

    def _insert_nested(self, table, given, conflict, path, wanted):
        """One object with what nests in it: parents first, then itself, then what refers to it. Gives the number of rows
        and the columns wanted of this one, as text."""
        o, after, total = {}, [], 0
        for key, value in given.items():
            rel = table.relationships.get(key)
            if rel is None:
                o[key] = value
            elif rel.order == "before_parent" and not rel.array:
                n, row = self._insert_nested(rel.remote, value["data"], value.get("on_conflict"), f"{path}.{key}.data",
                                             list(rel.mapping.values()))
                total += n
                for mine, theirs in rel.mapping.items():
                    if row is None:
                        raise GraphqlError(f"cannot proceed to insert object relation \"{key}\" since insert to table "
                                           f"\"{rel.remote.root}\" affects zero rows", path)
                    o[mine] = row[theirs]
            else:
                after.append((rel, value))
        statement, _ = self._insert_statement(table, [o], conflict, path)
        needed = set(wanted).union(*(rel.mapping for rel, _ in after))
        n, rows = self._fetch(table, statement, [c for c in table.columns if c in needed])
        total += n
        row = rows[0] if rows else None
        for rel, value in after:
            if row is None:
                raise GraphqlError(f"cannot proceed to insert array relations since insert to table \"{table.root}\" "
                                   "affects zero rows", path)
            data = value["data"] if isinstance(value["data"], list) else [value["data"]]
            for child in data:
                child = dict(child, **{theirs: row[mine] for mine, theirs in rel.mapping.items()})
                n, _ = self._insert_nested(rel.remote, child, value.get("on_conflict"), f"{path}.{rel.name}.data", rel.remote.key)
                total += n
        return total, row

    # Change and removal.

    def _update(self, field, table, ending, path):
        if ending == "_many":
            parts = []
            for i, one in enumerate(field.args["updates"]):
                part = Field(field.name, field.alias, one, field.selection)
                parts.append(self._update_one(part, table, "", f"{path}.args.updates[{i}]"))
            return "[" + ", ".join(parts) + "]"
        return self._update_one(field, table, ending, path)

    def _update_one(self, field, table, ending, path):
        expressions, _ = self.new_builders()
        permission = table.permission(self.role, "update")
        sets = []
        for column in table.columns:
            for op in ("_set", "_inc"):
                given = field.args.get(op) or {}
                if column not in given:
                    continue
                if permission and column not in permission["columns"]:
                    raise GraphqlError(f"field '{column}' not found in type: '{table.root}_set_input'", f"{path}.args.{op}.{column}")
                value = self._value(expressions, given, column, table, f"{path}.args.{op}.{column}")
                if op == "_inc":
                    value = f'("{column}" + ({value})::{table.columns[column]})'
                sets.append(f'"{column}" = {value}')
        for op in ("_set", "_inc"):
            for column in field.args.get(op) or {}:
                if column not in table.columns:
                    raise GraphqlError(f"field '{column}' not found in type: '{table.root}{op}_input'", f"{path}.args.{op}.{column}")
        tests = [expressions.permitted(table, "update", table.sql), self._where(expressions, field, table, ending, path)]
        if not sets:
            if ending:
                return "{}"
            return json.dumps({f.alias: 0 if f.name == "affected_rows" else [] for f in field.selection})
        check = expressions.permitted(table, "update", table.sql, "check")
        statement = (f"UPDATE {table.sql} SET {', '.join(sets)} WHERE {both(tests)} RETURNING * , "
                     f"{check}::boolean AS \"check__constraint\"")
        return self._finish(field, table, ending, statement, True, path)

    def _where(self, expressions, field, table, ending, path):
        if ending != "_by_pk":
            if "where" not in field.args:
                raise GraphqlError("missing required field 'where'", f"{path}.args")
            return expressions.where(table, field.args["where"], table.sql, f"{path}.args.where")
        key = field.args.get("pk_columns", field.args)
        return both([f'(({table.sql}."{c}") = {expressions.binding.scalar(key[c], table.columns[c], f"{path}.args.{c}")})'
                     for c in table.key])

    def _delete(self, field, table, ending, path):
        expressions, _ = self.new_builders()
        tests = [expressions.permitted(table, "delete", table.sql), self._where(expressions, field, table, ending, path)]
        statement = f"DELETE FROM {table.sql} WHERE {both(tests)} RETURNING * "
        return self._finish(field, table, ending, statement, False, path)

    # Answers.

    @staticmethod
    def _nests(table, ending, field):
        """Whether the answer reads more than the rows themselves: then they are read by a second statement."""
        selections = [field.selection] if ending in ("_one", "_by_pk") else [f.selection for f in field.selection if f.name == "returning"]
        return any(f.name not in table.columns and f.name != "__typename" for s in selections for f in s)

    def _finish(self, field, table, ending, statement, checked, path):
        if self._nests(table, ending, field):
            n, rows = self._fetch(table, statement, list(table.columns), checked)
            return self._answer_rows(field, table, ending, n, rows, path)
        name = f"{table.root}"
        columns = " , ".join(f'"{c}"' for c in table.columns)
        check = f' , (SELECT coalesce(bool_and("check__constraint" ), \'true\' ) FROM "_mra__{name}" )' if checked else ""
        sql = (f'WITH "_mra__{name}" AS ({statement}), "_aca__{name}" AS (SELECT {columns} FROM "_mra__{name}" ) '
               f"SELECT {self._answer(field, table, ending, path, None)}{check} ")
        row = self.run(sql)[0]
        if checked and row[1] != "t":
            raise CheckFailed()
        return row[0]

    def _answer(self, field, table, ending, path, affected):
        """The expression of the answer over "_aca__table"."""
        _, selections = self.new_builders()
        base = (f'"_aca__{table.root}"',) * 2
        if ending in ("_one", "_by_pk"):
            return f"({selections.one(Field('', '', {}, field.selection), table, path, None, base)} )"
        parts = []
        for f in field.selection:
            if f.name == "affected_rows":
                parts.append((f.alias, f'(SELECT COUNT(*) FROM "_aca__{table.root}" )' if affected is None else str(affected)))
            elif f.name == "returning":
                parts.append((f.alias, f"({selections.rows(Field('', '', {}, f.selection), table, path, base=base)} )"))
            elif f.name == "__typename":
                parts.append((f.alias, literal(f"{table.root}_mutation_response")))
            else:
                raise GraphqlError(f"field '{f.name}' not found in type: '{table.root}_mutation_response'", path)
        return "json_build_object(" + ", ".join(f"{literal(a)}, {sql}" for a, sql in parts) + " )"

    def _fetch(self, table, statement, wanted, checked=True):
        """Run a statement for its rows: their number, and of each the columns wanted, as text."""
        name = f"_mutres__{table.root}"
        columns = ", ".join(f'("_root.base"."{c}")::text AS "{c}"' for c in wanted)
        check = f' , (SELECT coalesce(bool_and("check__constraint" ), \'true\' ) FROM "{name}" )' if checked else ""
        sql = (f'WITH "{name}" AS ({statement}) SELECT json_build_object(\'affected_rows\', (SELECT COUNT(*) FROM "{name}" ), '
               f"'returning_columns', (SELECT coalesce(json_agg(\"root\" ), '[]' ) AS \"root\" FROM (SELECT row_to_json((SELECT \"_e\" "
               f'FROM (SELECT {columns} ) AS "_e" ) ) AS "root" FROM (SELECT * FROM "{name}" WHERE {TRUE} ) AS "_root.base" ) AS "_root" ) ){check} ')
        row = self.run(sql)[0]
        if checked and row[1] != "t":
            raise CheckFailed()
        result = json.loads(row[0])
        return result["affected_rows"], result["returning_columns"]

    def _answer_rows(self, field, table, ending, affected, rows, path):
        """The answer over rows that an earlier statement returned, given again as values."""
        name = table.root
        columns = " , ".join(f'"{c}"' for c in table.columns)
        if rows:
            values = ", ".join("(" + ", ".join(
                "(NULL)::" + t if row[c] is None else f"({literal(row[c])})::{t}" for c, t in table.columns.items()) + ")" for row in rows)
            source = f'SELECT ("row"::{table.sql}).* FROM (VALUES {values}) AS "row" '
        else:
            source = f"SELECT * FROM {table.sql} WHERE ('false') "
        sql = (f'WITH "_mra__{name}" AS ({source}), "_aca__{name}" AS (SELECT {columns} FROM "_mra__{name}" ) '
               f"SELECT {self._answer(field, table, ending, path, affected)} ")
        return self.run(sql)[0][0]
