"""The tables that are compared: same links, same statements, each in a schema of its own."""

TABLE = """
CREATE SCHEMA {schema};
SET search_path = {schema};
SET client_min_messages = warning;
CREATE {unlogged} TABLE links (id bigint PRIMARY KEY, from_id bigint DEFAULT 0, to_id bigint DEFAULT 0, type_id bigint NOT NULL) USING {am};
CREATE SEQUENCE links_id_seq;
ALTER SEQUENCE links_id_seq OWNED BY links.id;
ALTER TABLE links ALTER COLUMN id SET DEFAULT nextval('links_id_seq'::regclass);
"""

# The eight indexes (with the primary key) of the Deep links migration.
DEEP = """
CREATE INDEX links__id_hash ON links USING hash (id);
CREATE INDEX links__from_id_hash ON links USING hash (from_id);
CREATE INDEX links__from_id_btree ON links USING btree (from_id);
CREATE INDEX links__to_id_hash ON links USING hash (to_id);
CREATE INDEX links__to_id_btree ON links USING btree (to_id);
CREATE INDEX links__type_id_hash ON links USING hash (type_id);
CREATE INDEX links__type_id_btree ON links USING btree (type_id);
"""

# What a person would make for the same questions on heap.
LEAN = """
CREATE INDEX ON links (from_id, to_id);
CREATE INDEX ON links (to_id, from_id);
CREATE INDEX ON links (type_id);
"""

VARIANTS = {"heap": ("heap", DEEP), "lean": ("heap", LEAN), "doublets": ("doublets", DEEP)}

FINGERPRINT = ("SELECT count(*), sum(id), sum(from_id), sum(to_id), sum(type_id), "
               "sum(hashint8extended(id, from_id # (to_id * 65537) # (type_id * 257)) % 1000003) FROM links")


def ends(links):
    """How many links are ends of links: each is the source of four and the target of four."""
    return max(links // 4, 1)


def rows(links, types, first=1):
    """The links as a SELECT. types: 0 means that all are of type 0."""
    n = ends(links)
    kind = f"i % {types}" if types else "0"
    return (f"SELECT i AS id, 1 + (i * 7919) % {n} AS from_id, 1 + (i * 104729 + i / {n}) % {n} AS to_id, {kind} AS type_id "
            f"FROM generate_series({first}::bigint, {first + links - 1}) i")


def create(server, variant, schema, unlogged=False):
    am, indexes = VARIANTS[variant]
    server.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE;" +
               TABLE.format(schema=schema, unlogged="UNLOGGED" if unlogged else "", am=am) + indexes)


def fill(server, schema, links, types):
    server.sql(f"INSERT INTO links {rows(links, types)};"
               f"SELECT setval('links_id_seq', {links}); VACUUM ANALYZE links;", schema)


def fingerprint(server, schema):
    return server.value(FINGERPRINT, schema)


def same_everywhere(server, schemas, when):
    """All schemas hold the same links, or the run ends."""
    seen = {schema: fingerprint(server, schema) for schema in schemas}
    if len(set(seen.values())) != 1:
        raise AssertionError(f"different links {when}: {seen}")
