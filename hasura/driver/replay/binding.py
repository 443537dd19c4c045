"""How values reach a statement: as parameters, as literals, or through the variables of a multiplexed query."""
import json

from .. import libpq
from ..graphql import Enum, GraphqlError, Variable


def literal(value):
    return "'" + str(value).replace("'", "''") + "'"


def plain(value, type_name, path):
    """A value as PostgreSQL reads the type; what no engine would let through is refused."""
    if type_name == "bigint":
        if isinstance(value, bool) or isinstance(value, (list, dict, float, Enum)) or value is None:
            raise GraphqlError(f"unexpected value for type 'bigint': {json.dumps(value)}", path)
        try:
            number = int(value)
        except ValueError:
            raise GraphqlError(f"invalid input syntax for type bigint: \"{value}\"", path, "data-exception") from None
        if not -2 ** 63 <= number < 2 ** 63:
            raise GraphqlError(f"value \"{value}\" is out of range for type bigint", path, "data-exception")
        return str(number)
    if isinstance(value, bool):
        return "true" if value else "false"
    if type_name in ("json", "jsonb"):
        return json.dumps(value)
    if value is None or isinstance(value, (list, dict)):
        raise GraphqlError(f"unexpected value for type '{type_name}': {json.dumps(value)}", path)
    return str(value)


def array(values, type_name, path):
    if not isinstance(values, list):
        values = [values]
    quoted = []
    for i, v in enumerate(values):
        v = plain(v, type_name, f"{path}[{i}]")
        quoted.append(v if type_name == "bigint" else json.dumps(v, ensure_ascii=False))
    return "{" + ",".join(quoted) + "}"


class Prepared:
    """Parameters: $1 the session, then one for each value."""

    alias = "__be"

    def __init__(self, session):
        self.params = [libpq.json_text(json.dumps(session, separators=(",", ":")))]

    def _add(self, param):
        self.params.append(param)
        return f"(${len(self.params)})"

    def scalar(self, value, type_name, path):
        value = plain(value, type_name, path)
        return f"({self._add(libpq.bigint(value) if type_name == 'bigint' else libpq.text(value))}::{type_name})"

    def array(self, values, type_name, path):
        return f"({self._add(libpq.text(array(values, type_name, path)))}::{type_name}[])"

    def session(self, name, type_name):
        return f"((($1)->>{literal(name)})::{type_name})"

    def session_json(self):
        return "($1)::json"


class Inline:
    """Literals in the text, as in mutations."""

    alias = "_be"

    def __init__(self, session):
        self._session = session
        self.params = []

    def scalar(self, value, type_name, path):
        return f"(({literal(plain(value, type_name, path))})::{type_name})"

    def array(self, values, type_name, path):
        return f"(({literal(array(values, type_name, path))})::{type_name}[])"

    def session(self, name, type_name):
        if name not in self._session:
            raise GraphqlError(f'missing session variable: "{name}"', "$", "not-found")
        return f"(({literal(self._session[name])})::{type_name})"

    def session_json(self):
        return f"({literal(json.dumps(self._session))})::json"


class Multiplexed:
    """Variables of many subscribers in one statement: a value that the query names by a variable is read from the
    subscriber's variables, one that stands in the query's text becomes a synthetic variable."""

    alias = "__be"

    def __init__(self):
        self.synthetic = []
        self.validate = []
        self.params = []

    def _read(self, value, convert, type_name, path):
        if isinstance(value, Variable):
            place = f"ARRAY['query', {literal(value)}]"
        else:
            self.synthetic.append(convert(value, type_name, path))
            place = f"ARRAY['synthetic', '{len(self.synthetic) - 1}']"
        return f'("__subs"."result_vars"#>>{place})'

    def scalar(self, value, type_name, path):
        return f"(({self._read(value, plain, type_name, path)})::{type_name})"

    def array(self, values, type_name, path):
        return f"(({self._read(values, array, type_name, path)})::{type_name}[])"

    def session(self, name, type_name):
        return f"((\"__subs\".\"result_vars\"#>>ARRAY['session', {literal(name)}])::{type_name})"

    def cursor(self, column, type_name):
        return f"(((\"__subs\".\"result_vars\"#>>ARRAY['cursor', {literal(column)}]))::{type_name})"

    def session_json(self):
        return "(\"__subs\".\"result_vars\"->'session')"
