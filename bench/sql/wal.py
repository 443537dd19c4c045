"""Bytes of WAL a row, without full-page images and in the first rows after a checkpoint."""
from sql import pgbench, scripts
from sql.scripts import BY_NAME
from sql.variants import VARIANTS, same_everywhere

NAMES = ["insert 1", "insert 100", "update 1", "update 100"]


def _position(server):
    return int(server.value("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


def measure(server, records, tables, rows, say):
    """tables: the Statements whose tables are written to. rows: how many rows each figure is taken from."""
    for images in (False, True):
        server.set(full_page_writes="on" if images else "off")
        kind = "first rows after a checkpoint" if images else "without full-page images"
        say(f"  WAL {kind}")
        for name in NAMES:
            script = BY_NAME[name]
            count = max(rows // script.rows, 1)
            for variant in VARIANTS:
                server.sql("CHECKPOINT")
                before = _position(server)
                pgbench.run(server, variant, script.pgbench(scripts.constants(tables.links, tables.types)), 1, transactions=count,
                            settings={"synchronous_commit": "off"})
                records.add("wal", f"{name}, {kind}", variant, (_position(server) - before) / (count * script.rows), "bytes a row",
                            links=tables.links, rows=count * script.rows)
                server.sql(f"DELETE FROM links WHERE id > {tables.links}; SELECT setval('links_id_seq', {tables.links}); VACUUM links",
                           variant)
            same_everywhere(server, VARIANTS, f"after {name} for WAL")
    server.set(full_page_writes="on")
