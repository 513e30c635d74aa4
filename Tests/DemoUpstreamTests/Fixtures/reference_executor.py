"""Executes with graphql-core, for the differential tests.

Reads JSON lines on stdin and answers each with one JSON line on stdout.

{"schema": SDL, "tree": {...}, "query": text, "variables": {...}}
    -> {"data": ..., "errors": [{"path": [...], "locations": [[line, column], ...]}, ...]}
    Fields are members of the tree. {"$error": text} stands for a field that fails; echo and
    echoNeed give their arguments back as text.

{"schema": SDL, "introspected": {...}}
    -> {"told": SDL, "meant": SDL}: the schema that an introspection answer describes and the one
    that the SDL describes, both printed in one order.
"""

import json
import sys

from graphql import (
    GraphQLError,
    build_client_schema,
    build_schema,
    graphql_sync,
    lexicographic_sort_schema,
    print_schema,
)


def planted(value):
    if isinstance(value, dict) and "$error" in value:
        return GraphQLError(value["$error"])
    if isinstance(value, list):
        return [planted(element) for element in value]
    return value


def resolve(source, info, **arguments):
    if info.field_name == "echo":
        return json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return planted(source.get(info.field_name))


def execute(schema, request):
    result = graphql_sync(
        schema,
        request["query"],
        root_value=request["tree"],
        variable_values=request["variables"],
        field_resolver=resolve,
    )
    errors = [
        {
            "path": error.path,
            "locations": [[place.line, place.column] for place in error.locations or []],
        }
        for error in result.errors or []
    ]
    return {"data": result.data, "errors": errors}


def printed(schema):
    return print_schema(lexicographic_sort_schema(schema))


def main():
    schemas = {}
    for line in sys.stdin:
        request = json.loads(line)
        sdl = request["schema"]
        if sdl not in schemas:
            schemas[sdl] = build_schema(sdl)
        if "introspected" in request:
            told = build_client_schema(request["introspected"])
            answer = {"told": printed(told), "meant": printed(schemas[sdl])}
        else:
            answer = execute(schemas[sdl], request)
        print(json.dumps(answer))


main()
