"""The Hasura project beside this driver: its migrations, applied as the engine's command line applies them, and the
statements that an engine runs for event triggers when the metadata is applied."""
import json
import os
import pathlib
import re
import urllib.request

from . import yamlite

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent


def migrations():
    """Folders of migrations, oldest first."""
    return sorted((PROJECT / "migrations" / "default").iterdir())


def text(folder, direction, access_method):
    """The SQL of a migration. With access method heap the links table is made on heap, the rest stays as it is."""
    sql = (folder / f"{direction}.sql").read_text()
    if access_method == "heap":
        sql = re.sub(r"\) USING doublets;", ") USING heap;", sql)
        sql = sql.replace("CREATE EXTENSION IF NOT EXISTS pg_doublets;", "")
    return sql


def migrate(conn, access_method="doublets", direction="up", only=None):
    """Apply all migrations, or those whose names contain one of only. A migration is one transaction, as run_sql makes it."""
    folders = migrations()
    for folder in folders if direction == "up" else reversed(folders):
        if only and not any(part in folder.name for part in only):
            continue
        conn.execute("BEGIN;\n" + text(folder, direction, access_method) + "\nCOMMIT;")


def event_triggers(conn):
    """What applying metadata with the event trigger "links" leaves in a database."""
    conn.execute((HERE / "sql" / "event_triggers.sql").read_text())


def metadata():
    """The metadata as an engine takes it: the folder's files in one object, as the command line puts them together."""
    folder = PROJECT / "metadata"

    def part(name):
        return yamlite.load(folder / f"{name}.yaml")

    out = {"version": part("version")["version"], "sources": yamlite.load(folder / "databases" / "databases.yaml")}
    out.update({k: v for k, v in part("actions").items() if k == "actions" or any(v.values())})
    for name, key in (("allow_list", "allowlist"), ("cron_triggers",) * 2, ("inherited_roles",) * 2, ("query_collections",) * 2,
                      ("remote_schemas",) * 2, ("rest_endpoints",) * 2):
        value = part(name)
        if value:
            out[key] = value
    return out


def deploy(url, conn):
    """Apply the migrations, unless the database has them, and replace the engine's metadata. Gives what the engine says."""
    if conn.value("SELECT to_regclass('public.links')") is None:
        migrate(conn)
    body = {"type": "replace_metadata", "version": 2, "args": {"allow_inconsistent_metadata": False, "metadata": metadata()}}
    request = urllib.request.Request(url.rstrip("/") + "/v1/metadata", json.dumps(body).encode(), {
        "Content-Type": "application/json", "X-Hasura-Admin-Secret": os.environ.get("HASURA_GRAPHQL_ADMIN_SECRET", "")})
    with urllib.request.urlopen(request, timeout=120) as response:
        return response.read().decode()
