"""A parser of GraphQL documents: operations with variables, fields, arguments, fragments, @include and @skip."""
import json
import re

_TOKEN = re.compile(r"""[\s,]*(?:\#[^\n]*[\s,]*)*(?:
    (?P<name>[_A-Za-z]\w*) | (?P<float>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)) | (?P<int>-?\d+) |
    (?P<string>"(?:[^"\\\n]|\\.)*") | (?P<punct>\.\.\.|[!$()\[\]{}:=@|&]) | (?P<end>\Z))""", re.X)


class GraphqlError(Exception):
    """A request that cannot be understood or is not allowed."""

    def __init__(self, message, path="$", code="validation-failed"):
        super().__init__(message)
        self.path, self.code = path, code


class Variable(str):
    """A reference to a variable, by name."""


class Enum(str):
    pass


class Field:
    __slots__ = ("name", "alias", "args", "selection")

    def __init__(self, name, alias, args, selection):
        self.name, self.alias, self.args, self.selection = name, alias, args, selection


class Operation:
    __slots__ = ("kind", "name", "variables", "selection")

    def __init__(self, kind, name, variables, selection):
        self.kind, self.name, self.variables, self.selection = kind, name, variables, selection


class _Parser:
    def __init__(self, text):
        self.text, self.at, self.fragments = text, 0, {}
        self.advance()

    def advance(self):
        match = _TOKEN.match(self.text, self.at)
        if not match:
            raise GraphqlError(f"not a valid graphql query: {self.text[self.at:self.at + 20]!r}")
        self.at, self.kind, self.value = match.end(), match.lastgroup, match.group(match.lastgroup)

    def take(self, value):
        if self.value != value or self.kind == "string":
            raise GraphqlError(f"not a valid graphql query: {value!r} expected, not {self.value!r}")
        self.advance()

    def accept(self, value):
        if self.kind in ("punct", "name") and self.value == value:
            self.advance()
            return True
        return False

    def name(self):
        if self.kind != "name":
            raise GraphqlError(f"not a valid graphql query: a name expected, not {self.value!r}")
        value = self.value
        self.advance()
        return value

    def literal(self):
        kind, value = self.kind, self.value
        if kind == "punct":
            if self.accept("$"):
                return Variable(self.name())
            if self.accept("["):
                out = []
                while not self.accept("]"):
                    out.append(self.literal())
                return out
            if self.accept("{"):
                out = {}
                while not self.accept("}"):
                    key = self.name()
                    self.take(":")
                    out[key] = self.literal()
                return out
            raise GraphqlError(f"not a valid graphql query: {value!r}")
        self.advance()
        if kind == "name":
            return {"true": True, "false": False, "null": None}.get(value, Enum(value))
        return {"int": int, "float": float, "string": json.loads}[kind](value)

    def arguments(self):
        out = {}
        if self.accept("("):
            while not self.accept(")"):
                key = self.name()
                self.take(":")
                out[key] = self.literal()
        return out

    def directives(self):
        out = {}
        while self.accept("@"):
            name = self.name()
            out[name] = self.arguments()
        return out

    def type(self):
        if self.accept("["):
            self.type()
            self.take("]")
        else:
            self.name()
        self.accept("!")

    def selection(self):
        out = []
        self.take("{")
        while not self.accept("}"):
            if self.accept("..."):
                if self.accept("on"):
                    self.name()
                    out.append((self.directives(), self.selection()))
                elif self.value == "{":
                    out.append(({}, self.selection()))
                else:
                    out.append((None, self.name()))
                continue
            alias = name = self.name()
            if self.accept(":"):
                name = self.name()
            args = self.arguments()
            directives = self.directives()
            nested = self.selection() if self.value == "{" and self.kind == "punct" else None
            out.append((directives, Field(name, alias, args, nested)))
        return out

    def document(self):
        operations = []
        while self.kind != "end":
            if self.value == "{":
                operations.append(Operation("query", None, {}, self.selection()))
                continue
            kind, name, variables = self.name(), None, {}
            if kind == "fragment":
                name = self.name()
                self.take("on")
                self.name()
                self.fragments[name] = self.selection()
                continue
            if self.kind == "name":
                name = self.name()
            if self.accept("("):
                while not self.accept(")"):
                    self.take("$")
                    variable = self.name()
                    self.take(":")
                    self.type()
                    variables[variable] = self.literal() if self.accept("=") else None
            self.directives()
            operations.append(Operation(kind, name, variables, self.selection()))
        return operations


def _substitute(value, variables, keep):
    if isinstance(value, Variable):
        if value not in variables:
            raise GraphqlError(f"unbound variable \"{value}\"")
        return value if keep else variables[value]
    if isinstance(value, list):
        return [_substitute(v, variables, keep) for v in value]
    if isinstance(value, dict):
        return {k: _substitute(v, variables, keep) for k, v in value.items()}
    return value


def _flatten(selection, fragments, variables, keep):
    out = []
    for directives, item in selection:
        directives = _substitute(directives or {}, variables, False)
        if directives.get("skip", {}).get("if") or directives.get("include", {}).get("if", True) is False:
            continue
        if isinstance(item, str):
            out += _flatten(fragments[item], fragments, variables, keep)
        elif isinstance(item, list):
            out += _flatten(item, fragments, variables, keep)
        else:
            nested = None if item.selection is None else _flatten(item.selection, fragments, variables, keep)
            out.append(Field(item.name, item.alias, _substitute(item.args, variables, keep), nested))
    return out


def parse(text, variables=None, name=None, keep_variables=False):
    """The operation to run, its fragments and variables put in; with keep_variables arguments keep them as Variable."""
    parser = _Parser(text)
    operations = parser.document()
    chosen = [o for o in operations if name is None or o.name == name]
    if len(chosen) != 1:
        raise GraphqlError("exactly one operation has to be present in the document when operationName is not specified")
    operation = chosen[0]
    bound = {k: v for k, v in operation.variables.items()}
    bound.update(variables or {})
    operation.selection = _flatten(operation.selection, parser.fragments, bound, keep_variables)
    operation.variables = bound
    return operation
