"""PostgreSQL's own client library through ctypes: as much of it as the driver needs.

Results come as text. Parameters are (oid, bytes, binary?) and go in whatever format the caller chose.
"""
import ctypes
import ctypes.util
import struct

BIGINT, TEXT, JSON, BOOL, NUMERIC, JSONB, UUID, UUID_ARRAY, JSON_ARRAY = 20, 25, 114, 16, 1700, 3802, 2950, 2951, 199

_OK, _TUPLES = 1, 2
_FIELDS = {"severity": "V", "sqlstate": "C", "message": "M", "detail": "D", "hint": "H", "constraint": "n"}


class PgError(Exception):
    """An error that the server reported, or a connection that broke."""

    def __init__(self, fields):
        super().__init__(fields.get("message") or "connection lost")
        self.sqlstate = fields.get("sqlstate")
        self.fields = fields


def _load():
    name = ctypes.util.find_library("pq") or "libpq.so.5"
    lib = ctypes.CDLL(name)
    pointer, string, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for function, result, arguments in (
            ("PQconnectdb", pointer, [string]),
            ("PQstatus", integer, [pointer]),
            ("PQerrorMessage", string, [pointer]),
            ("PQserverVersion", integer, [pointer]),
            ("PQbackendPID", integer, [pointer]),
            ("PQfinish", None, [pointer]),
            ("PQexec", pointer, [pointer, string]),
            ("PQprepare", pointer, [pointer, string, string, integer, ctypes.POINTER(ctypes.c_uint)]),
            ("PQexecPrepared", pointer, [pointer, string, integer, ctypes.POINTER(string), ctypes.POINTER(integer),
                                         ctypes.POINTER(integer), integer]),
            ("PQexecParams", pointer, [pointer, string, integer, ctypes.POINTER(ctypes.c_uint),
                                       ctypes.POINTER(string), ctypes.POINTER(integer), ctypes.POINTER(integer), integer]),
            ("PQresultStatus", integer, [pointer]),
            ("PQresultErrorField", string, [pointer, integer]),
            ("PQntuples", integer, [pointer]),
            ("PQnfields", integer, [pointer]),
            ("PQgetvalue", pointer, [pointer, integer, integer]),
            ("PQgetlength", integer, [pointer, integer, integer]),
            ("PQgetisnull", integer, [pointer, integer, integer]),
            ("PQclear", None, [pointer]),
            ("PQsetNoticeProcessor", pointer, [pointer, pointer, pointer])):
        f = getattr(lib, function)
        f.restype, f.argtypes = result, arguments
    return lib


_pq = _load()
_quiet = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(lambda *_: None)


def bigint(value):
    return BIGINT, struct.pack("!q", int(value)), True


def text(value):
    return TEXT, str(value).encode(), True


def json_text(value):
    return JSON, value.encode(), True


class Connection:
    """One session. Not for use by two threads at once."""

    def __init__(self, conninfo):
        self._conn = _pq.PQconnectdb(conninfo.encode())
        self._prepared = {}
        if _pq.PQstatus(self._conn) != 0:
            message = _pq.PQerrorMessage(self._conn).decode().strip()
            self.close()
            raise PgError({"message": message, "sqlstate": "08006"})
        _pq.PQsetNoticeProcessor(self._conn, ctypes.cast(_quiet, ctypes.c_void_p), None)

    def close(self):
        if self._conn:
            _pq.PQfinish(self._conn)
            self._conn = None

    @property
    def version(self):
        return _pq.PQserverVersion(self._conn)

    @property
    def pid(self):
        return _pq.PQbackendPID(self._conn)

    def _rows(self, result):
        try:
            if _pq.PQresultStatus(result) not in (_OK, _TUPLES):
                fields = {}
                for name, code in _FIELDS.items():
                    value = _pq.PQresultErrorField(result, ord(code)) if result else None
                    fields[name] = value.decode() if value is not None else None
                fields["message"] = fields["message"] or _pq.PQerrorMessage(self._conn).decode().strip()
                raise PgError(fields)
            rows = []
            width = _pq.PQnfields(result)
            for r in range(_pq.PQntuples(result)):
                row = []
                for c in range(width):
                    if _pq.PQgetisnull(result, r, c):
                        row.append(None)
                    else:
                        row.append(ctypes.string_at(_pq.PQgetvalue(result, r, c), _pq.PQgetlength(result, r, c)).decode())
                rows.append(row)
            return rows
        finally:
            if result:
                _pq.PQclear(result)

    def execute(self, sql):
        """Run text, one statement or many; the rows of the last."""
        return self._rows(_pq.PQexec(self._conn, sql.encode()))

    def unprepared(self, sql):
        """Run one statement by the extended protocol, without parameters."""
        return self._rows(_pq.PQexecParams(self._conn, sql.encode(), 0, None, None, None, None, 0))

    def prepared(self, sql, params):
        """Run one statement, prepared the first time that this session sees its text."""
        key = (sql, tuple(p[0] for p in params))
        n = len(params)
        name = self._prepared.get(key)
        if name is None:
            name = str(len(self._prepared)).encode()
            types = (ctypes.c_uint * n)(*(p[0] for p in params))
            self._rows(_pq.PQprepare(self._conn, name, sql.encode(), n, types))
            self._prepared[key] = name
        values = (ctypes.c_char_p * n)(*(p[1] for p in params))
        lengths = (ctypes.c_int * n)(*(len(p[1]) for p in params))
        formats = (ctypes.c_int * n)(*(1 if p[2] else 0 for p in params))
        return self._rows(_pq.PQexecPrepared(self._conn, name, n, values, lengths, formats, 0))

    def value(self, sql):
        """The first column of the first row."""
        rows = self.execute(sql)
        return rows[0][0] if rows else None
