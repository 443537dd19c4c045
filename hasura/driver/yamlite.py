"""The part of YAML that Hasura's command line writes: block mappings and lists, plain and quoted scalars, empty or
one-line {} and []. Anything else is an error, never a guess."""
import re

_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s'"\[\]{}#&*!|>%@`,:-][^:#]*?|_[\w]*):(?:\s+(.*))?$""")


def scalar(text):
    text = text.strip()
    if text[:1] == '"' and text[-1:] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if text[:1] == "'" and text[-1:] == "'":
        return text[1:-1].replace("''", "'")
    if text in ("{}", "[]"):
        return {} if text == "{}" else []
    if text[:1] == "{" and text[-1:] == "}":
        return {k.strip(): scalar(v) for k, v in (part.split(":", 1) for part in text[1:-1].split(","))}
    if text[:1] == "[" and text[-1:] == "]":
        return [scalar(part) for part in text[1:-1].split(",")]
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if text[:1] in "{[\"'|>&*!%@`":
        raise ValueError(f"not the YAML that is read here: {text}")
    return text


def _lines(text):
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.rstrip()
        if bare.strip() and not bare.strip().startswith("#"):
            yield len(bare) - len(bare.lstrip()), bare.strip(), number


def _block(lines, at, indent):
    if lines[at][1].startswith("- ") or lines[at][1] == "-":
        return _list(lines, at, indent)
    return _mapping(lines, at, indent)


def _list(lines, at, indent):
    out = []
    while at < len(lines) and lines[at][0] == indent and (lines[at][1] + " ").startswith("- "):
        depth, text, number = lines[at]
        rest = text[1:].lstrip()
        if _KEY.match(rest):
            # the item is a mapping that begins on the line of its dash
            lines[at] = (depth + len(text) - len(rest), rest, number)
            item, at = _mapping(lines, at, lines[at][0])
            out.append(item)
        elif rest:
            out.append(scalar(rest))
            at += 1
        else:
            item, at = _block(lines, at + 1, lines[at + 1][0])
            out.append(item)
    return out, at


def _mapping(lines, at, indent):
    out = {}
    while at < len(lines) and lines[at][0] == indent:
        match = _KEY.match(lines[at][1])
        if not match:
            raise ValueError(f"line {lines[at][2]}: {lines[at][1]}")
        key, rest = scalar(match.group(1)), match.group(2)
        at += 1
        if rest:
            out[key] = scalar(rest)
        elif at < len(lines) and (lines[at][0] > indent or (lines[at][0] == indent and lines[at][1].startswith("- "))):
            out[key], at = _block(lines, at, lines[at][0])
        else:
            out[key] = None
    return out, at


def parse(text):
    lines = list(_lines(text))
    if not lines:
        return None
    if len(lines) == 1 and not _KEY.match(lines[0][1]) and not lines[0][1].startswith("- "):
        return scalar(lines[0][1])
    value, at = _block(lines, 0, lines[0][0])
    if at != len(lines):
        raise ValueError(f"line {lines[at][2]}: unexpected indentation")
    return value


def load(path):
    """A file with its "!include" scalars replaced by what the files hold."""
    def expand(value):
        if isinstance(value, str) and value.startswith("!include "):
            return load(path.parent / value[len("!include "):])
        if isinstance(value, list):
            return [expand(v) for v in value]
        if isinstance(value, dict):
            return {k: expand(v) for k, v in value.items()}
        return value
    return expand(parse(path.read_text()))
