"""Every statement is run once on every table before it is timed: heap with Deep's indexes says what is right."""
import json

from sql.scripts import COLUMNS
from sql.variants import FINGERPRINT

SAMPLES = 5


MARK = "-- next --"


def _answers(server, schema, script, texts):
    """What each statement answers, in a form that can be compared."""
    parts = []
    for text in texts:
        if script.writes:
            text = (f"BEGIN; WITH w AS ({text} RETURNING {COLUMNS}) SELECT count(*), sum(from_id), sum(to_id), sum(type_id) FROM w; ROLLBACK;"
                    f"BEGIN; {text}; {FINGERPRINT}; ROLLBACK")
        parts.append(text + f";\n\\echo '{MARK}'\n")
    answers, lines = [], []
    for line in server.sql("".join(parts), schema):
        if line != MARK:
            lines.append(line)
            continue
        answers.append(_form(server, schema, script, texts[len(answers)], lines))
        lines = []
    return answers


def _form(server, schema, script, text, lines):
    if script.writes:
        if lines[0].split("|")[0] != str(script.rows):
            raise AssertionError(f"{script.name} in {schema}: {lines[0]} instead of {script.rows} rows")
        # new ids depend on the sequence, so only their number is compared
        return [lines[0], lines[1].split("|")[0] if "insert" in script.name else lines[1]]
    if script.check == "json":
        return sorted(json.loads("".join(lines)), key=lambda link: link["id"])
    if script.check == "page":
        # LIMIT without ORDER BY: as many rows as on heap, all different, and each one that the condition allows
        allowed = set(server.sql(text.split(" LIMIT ")[0], schema))
        return len(lines) if len(set(lines)) == len(lines) and set(lines) <= allowed else "wrong rows"
    return sorted(lines)


def check(server, schemas, script, constants):
    """Raise AssertionError unless the statement gives the same in all schemas; the first is the oracle."""
    texts = list(dict.fromkeys(script.sample(constants, seed) for seed in range(SAMPLES)))
    right = _answers(server, schemas[0], script, texts)
    if not any(right):
        raise AssertionError(f"{script.name}: no sample finds a row")
    for schema in schemas[1:]:
        for text, expected, got in zip(texts, right, _answers(server, schema, script, texts)):
            if got != expected:
                raise AssertionError(f"{script.name}: {schemas[0]} answers {str(expected)[:300]}, {schema} {str(got)[:300]}: {text}")
