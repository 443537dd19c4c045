"""Conformance: requests with the responses that are expected, on one endpoint or on two that are compared.

A file of cases/ holds sections: a line "=== title [role=R] [user=N]", the request, a line "---", and the response: what
"data" holds, or {"error": CODE}. Where a request asks for no order, arrays are compared as sets with repetition. Cases
run in the order of the files and build on each other, so they want a database with the project's migrations and
nothing else in it."""
import json
import pathlib
import re

CASES = pathlib.Path(__file__).resolve().parent / "cases"


class Case:
    def __init__(self, title, options, request, expected):
        self.title, self.options, self.request, self.expected = title, options, request, expected
        self.ordered = "order_by" in request


def read(path):
    for section in re.split(r"^=== ", path.read_text(), flags=re.M)[1:]:
        head, body = section.split("\n", 1)
        request, _, expected = body.partition("\n---\n")
        options = dict(re.findall(r"\b(role|user)=(\S+)", head))
        yield Case(re.sub(r"\s*\b(role|user)=\S+", "", head).strip(), options, request.strip(),
                   json.loads(expected) if expected.strip() else None)


def write(path, comment, cases):
    out = comment
    for c in cases:
        options = "".join(f" {k}={v}" for k, v in c.options.items())
        out += f"=== {c.title}{options}\n{c.request}\n---\n{_pretty(c.expected)}\n\n"
    path.write_text(out)


def _pretty(value, width=150):
    """JSON in lines that are not too long."""
    lines, line = [], ""
    for piece in re.split(r"(?<=, )", json.dumps(value, ensure_ascii=False)):
        if line and len(line) + len(piece) > width and not re.search(r'"[^"]*$', re.sub(r'\\\\.|"[^"]*"', "", line)):
            lines.append(line.rstrip())
            line = "  "
        line += piece
    return "\n".join(lines + [line])


def sort_arrays(value):
    if isinstance(value, list):
        return sorted((sort_arrays(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    if isinstance(value, dict):
        return {k: sort_arrays(v) for k, v in value.items()}
    return value


def outcome(endpoint, case):
    """What a response comes to: its data, or the code of its error."""
    answer = json.loads(endpoint.request(case.request, None, case.options.get("role", "admin"), case.options.get("user")))
    if "errors" in answer:
        error = answer["errors"][0]
        return {"error": error.get("extensions", {}).get("code", error["message"])}
    return answer["data"]


def run(endpoints, record=False, only=None, say=print):
    """endpoints: name -> endpoint. Prints failures and a line of counts; True where all went well."""
    names = list(endpoints)
    failed, equal, total = dict.fromkeys(names, 0), 0, 0
    for path in sorted(CASES.glob("*.txt")):
        if only and only not in path.name:
            continue
        cases = list(read(path))
        for case in cases:
            total += 1
            outcomes = {name: outcome(endpoints[name], case) for name in names}
            if record:
                case.expected = outcomes[names[0]]
            plain = {n: o if case.ordered else sort_arrays(o) for n, o in outcomes.items()}
            wanted = case.expected if case.ordered else sort_arrays(case.expected)
            for name in names:
                if plain[name] != wanted:
                    failed[name] += 1
                    say(f"not ok: {path.stem}: {case.title}: {name}\n  request:  {case.request}\n"
                        f"  expected: {json.dumps(case.expected)}\n  got:      {json.dumps(outcomes[name])}")
            same = all(plain[n] == plain[names[0]] for n in names)
            equal += same
            if not same:
                say(f"not equal: {path.stem}: {case.title}")
        if record:
            comment = path.read_text().split("=== ", 1)[0]
            write(path, comment, cases)
    for name in names:
        say(f"{name} ({endpoints[name].kind}): {total - failed[name]} of {total} cases as expected")
    if len(names) > 1:
        say(f"{' and '.join(names)}: {equal} of {total} cases equal")
    return total > 0 and not any(failed.values()) and equal == total
