"""Subscriptions as an engine polls them: one statement for all subscribers of a query, their variables as parameters."""
import json

from ..graphql import Field, GraphqlError
from .binding import literal
from .expression import Expressions
from .selection import Selections


def _stream(endpoint, field, binding, role):
    """The rows after each subscriber's cursor, in its order, and the cursor that comes next."""
    table = endpoint.model.roots[field.name[:-len("_stream")]]
    cursor = field.args["cursor"]
    cursor = cursor[0] if isinstance(cursor, list) else cursor
    (column, _), = cursor["initial_value"].items()
    descending = str(cursor.get("ordering", "ASC")).upper() == "DESC"
    expressions = Expressions(endpoint.model, binding, role)
    selections = Selections(endpoint.model, expressions)
    inner = Field(field.name, field.alias, {"where": field.args.get("where") or {}, "limit": field.args["batch_size"],
                                            "order_by": {column: "desc" if descending else "asc"}}, field.selection)
    after = f'(({table.sql}."{column}") {"<" if descending else ">"} {binding.cursor(column, table.columns[column])})'
    following = f", json_build_object({literal(column)}, ({'MIN' if descending else 'MAX'}(\"root.pg.{column}\"))::text ) AS \"cursor\""
    return selections.rows(inner, table, f"$.selectionSet.{field.name}", where=after, also=following)


def statement(endpoint, operation, binding, role):
    if operation.kind != "subscription" or len(operation.selection) != 1:
        raise GraphqlError("subscriptions must select one top level field")
    field = operation.selection[0]
    streaming = field.name.endswith("_stream")
    name = f'"_{field.alias}"'
    if streaming:
        sql = _stream(endpoint, field, binding, role)
        columns = f'json_build_object({literal(field.alias)}, {name}."root" ) AS "root", to_json({name}."cursor") AS "cursor"'
        more = ', "__fld_resp"."cursor" AS "cursor"'
    else:
        sql, _ = endpoint.statement(field, {"x-hasura-role": role}, binding)
        columns, more = f'json_build_object({literal(field.alias)}, {name}."root" ) AS "root"', ""
    return (f'SELECT "__subs"."result_id" , "__fld_resp"."root" AS "result"{more} FROM UNNEST(($1)::uuid[], ($2)::json[]) '
            f'AS "__subs"("result_id", "result_vars" ) LEFT OUTER JOIN LATERAL (SELECT {columns} FROM ({sql}) AS {name} ) '
            f"AS \"__fld_resp\" ON ('true')")


def array(items):
    """An array literal."""
    return "{" + ",".join(json.dumps(item, ensure_ascii=False) for item in items) + "}"


def variables(query=None, synthetic=(), cursor=None, session=None):
    """What $2 holds for one subscriber."""
    return json.dumps({"session": session or {}, "query": query or {}, "synthetic": list(synthetic), "cursor": cursor or {}})
