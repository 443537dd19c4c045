"""The Hasura project beside this driver: its migrations, applied as the engine's command line applies them, and the
statements that an engine runs for event triggers when the metadata is applied."""
import pathlib
import re

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
