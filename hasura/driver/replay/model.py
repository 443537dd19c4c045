"""Tables, relationships and permissions: the metadata joined with the database's catalog, as an engine joins them."""
import pathlib

from .. import yamlite


class Relationship:
    def __init__(self, name, array, mapping, remote, order):
        self.name, self.array, self.mapping, self.remote_name, self.order = name, array, mapping, remote, order
        self.remote = None


class Computed:
    def __init__(self, name, schema, function, session_argument, arguments, returns_rows):
        self.name, self.schema, self.function = name, schema, function
        self.session_argument, self.arguments, self.returns_rows = session_argument, arguments, returns_rows


class Table:
    def __init__(self, schema, name):
        self.schema, self.name = schema, name
        self.sql = f'"{schema}"."{name}"'
        self.root = name if schema == "public" else f"{schema}_{name}"
        self.columns, self.key, self.constraints = {}, [], set()
        self.relationships, self.computed, self.permissions, self.events = {}, {}, {}, []

    def permission(self, role, action):
        """None where the role may not; {} for admin, who may all."""
        if role == "admin":
            return {}
        return self.permissions.get(action, {}).get(role)


_COLUMNS = """SELECT n.nspname, c.relname, a.attname, t.typname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY c.oid, a.attnum"""
_KEYS = """SELECT n.nspname, c.relname, i.relname, x.indisprimary,
    (SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (x.indkey))
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE x.indisunique AND n.nspname NOT IN ('pg_catalog', 'pg_toast')"""
_FUNCTION = """SELECT p.proretset, array_to_string(p.proargnames, ','),
    (SELECT string_agg(t.typname, ',' ORDER BY u.n) FROM unnest(p.proargtypes) WITH ORDINALITY u (oid, n) JOIN pg_type t ON t.oid = u.oid)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = '{}' AND p.proname = '{}'"""
_TYPES = {"int8": "bigint", "int4": "integer", "bool": "boolean", "float8": "double precision"}


class Model:
    """What an engine knows after it has read the metadata and the catalog. tables: by (schema, name); roots: by root field."""

    def __init__(self, conn, metadata=None):
        folder = pathlib.Path(metadata) if metadata else pathlib.Path(__file__).resolve().parents[2] / "metadata"
        source = yamlite.load(folder / "databases" / "databases.yaml")[0]
        columns, keys = conn.execute(_COLUMNS), conn.execute(_KEYS)
        self.tables = {}
        for entry in source["tables"]:
            table = Table(entry["table"]["schema"], entry["table"]["name"])
            table.columns = {c: _TYPES.get(t, t) for s, r, c, t in columns if (s, r) == (table.schema, table.name)}
            if not table.columns:
                continue  # tracked, but not in this database: an engine lists it as inconsistent
            for s, r, name, primary, cols in keys:
                if (s, r) == (table.schema, table.name):
                    table.constraints.add(name)
                    if primary == "t":
                        table.key = cols.split(",")
            for kind, array in (("object_relationships", False), ("array_relationships", True)):
                for rel in entry.get(kind, []):
                    manual = rel["using"]["manual_configuration"]
                    remote = (manual["remote_table"]["schema"], manual["remote_table"]["name"])
                    table.relationships[rel["name"]] = Relationship(
                        rel["name"], array, manual["column_mapping"], remote, manual.get("insertion_order"))
            for field in entry.get("computed_fields", []):
                d = field["definition"]
                found = conn.execute(_FUNCTION.format(d["function"]["schema"], d["function"]["name"]))
                if not found:
                    continue
                returns_rows, names, types = found[0]
                kept = (d.get("table_argument"), d.get("session_argument"))
                table.computed[field["name"]] = Computed(
                    field["name"], d["function"]["schema"], d["function"]["name"], d.get("session_argument"),
                    [(n, None if n in kept else _TYPES.get(t, t)) for n, t in zip(names.split(","), types.split(","))],
                    returns_rows == "t")
            for action in ("select", "insert", "update", "delete"):
                table.permissions[action] = {p["role"]: p["permission"] for p in entry.get(f"{action}_permissions", [])}
            table.events = [t["name"] for t in entry.get("event_triggers", [])]
            self.tables[table.schema, table.name] = table
        for table in self.tables.values():
            for name, rel in list(table.relationships.items()):
                rel.remote = self.tables.get(rel.remote_name)
                if rel.remote is None:
                    del table.relationships[name]
        self.roots = {t.root: t for t in self.tables.values()}
