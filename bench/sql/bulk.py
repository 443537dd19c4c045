"""Loading, sizes, vacuum, and the first access after a restart."""
import os

from sql.variants import FINGERPRINT, VARIANTS, create, rows, same_everywhere


def _pairs(links):
    return f"SELECT i AS id, i AS from_id, i + 1 AS to_id, i % 100 AS type_id FROM generate_series(1::bigint, {links}) i"


def _files(server, links):
    """The same links in order of id, and scattered."""
    paths = {kind: os.path.join(server.folder, f"{kind}.copy") for kind in ("in order", "scattered")}
    paths = {kind: path.replace(" ", "_") for kind, path in paths.items()}
    server.sql(f"COPY ({rows(links, 100)}) TO '{paths['in order']}';"
               f"COPY (SELECT * FROM ({rows(links, 100)}) l ORDER BY hashint8(id), id) TO '{paths['scattered']}'")
    return paths


def loads(server, records, links, repeats, say):
    """Rows a second of COPY and INSERT ... SELECT into a table with all its indexes; ends with tables of pairs (i, i + 1)."""
    paths = _files(server, links)
    ways = {f"COPY, {kind}": f"COPY links FROM '{path}'" for kind, path in paths.items()}
    ways["INSERT ... SELECT"] = f"INSERT INTO links {rows(links, 100)}"
    for _ in range(repeats):
        for name, statement in ways.items():
            for variant, schema in VARIANTS.items():
                create(server, variant, variant)
                server.sql("CHECKPOINT")
                seconds = server.timed(statement, variant, before="SET synchronous_commit = off")
                records.add("bulk", name, variant, links / seconds, "rows/s", higher=True, links=links)
            same_everywhere(server, VARIANTS, "after " + name)
        say(f"  loaded {links} links in {len(ways)} ways")
    for path in paths.values():
        os.unlink(path)


def sizes(server, records, links):
    """Bytes on disk and in shared memory a link, for pairs (i, i + 1) loaded in one statement."""
    for variant in VARIANTS:
        create(server, variant, variant)
        server.sql(f"INSERT INTO links {_pairs(links)}; VACUUM ANALYZE links", variant)
        disk = int(server.value("SELECT pg_total_relation_size('links')", variant))
        records.add("size", "on disk, table and indexes", variant, disk / links, "bytes a link", links=links)
        memory = 0
        if variant == "doublets":
            memory = int(server.value("SELECT shared_bytes FROM doublets_stats('links')", variant))
        records.add("size", "in shared memory besides the buffers", variant, memory / links, "bytes a link", links=links)
    same_everywhere(server, VARIANTS, "of pairs")


def vacuums(server, records, links, say):
    """Seconds of VACUUM after a tenth of the links was updated, and after a tenth was deleted."""
    for name, change in (("VACUUM after updating a tenth", "UPDATE links SET to_id = to_id + 1 WHERE id % 10 = 3"),
                         ("VACUUM after deleting a tenth", "DELETE FROM links WHERE id % 10 = 7")):
        for variant in VARIANTS:
            server.sql(change, variant)
            records.add("bulk", name, variant, server.timed("VACUUM links", variant) * 1000, "ms", links=links)
        same_everywhere(server, VARIANTS, name)
    say(f"  vacuumed {links} links")


def restart(server, records, links, say):
    """The first access after a restart: doublets loads its links then."""
    before = {variant: server.value(FINGERPRINT, variant) for variant in VARIANTS}
    server.stop()
    server.start()
    for variant in VARIANTS:
        seconds = server.timed(f"SELECT * FROM links WHERE id = {links // 2}", variant)
        records.add("bulk", "first select by id after a restart", variant, seconds * 1000, "ms", links=links)
        seconds = server.timed("SELECT count(*) FROM links", variant)
        records.add("bulk", "then the first count(*)", variant, seconds * 1000, "ms", links=links)
        if server.value(FINGERPRINT, variant) != before[variant]:
            raise AssertionError(f"{variant}: other links after a restart")
    faults = server.value("SELECT count(*) FROM doublets_check('links')", "doublets")
    if faults != "0":
        raise AssertionError(f"doublets_check finds {faults} faults")
    say(f"  restarted with {links} links")
