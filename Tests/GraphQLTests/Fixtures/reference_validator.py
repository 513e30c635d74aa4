"""Validates with graphql-core, for the differential tests.

Reads JSON lines on stdin and answers each with one JSON line on stdout.

{"schema": SDL, "document": text}
    -> {"faults": [[rule, line, column], ...], "failed": [rule, ...]}
    Every specified rule works as if it were run alone, so each fault has its rule's name. A rule
    that raised instead of reporting is listed in "failed". Line and column are those of the first
    location.

{"sdl": SDL}
    -> {"faults": [[rule, line, column], ...]} as above, with the rules for SDL; when those find
    nothing, faults of the finished schema under the name "Schema".

{"parse": text}
    -> {"printed": text}, the document in canonical form, or null for what is no document.

{"schema": SDL, "query": text}
    -> the answer to the query on a schema without data: introspection.
"""

import json
import sys

from graphql import (
    GraphQLError,
    GraphQLSyntaxError,
    ParallelVisitor,
    TypeInfo,
    TypeInfoVisitor,
    build_ast_schema,
    build_schema,
    graphql_sync,
    parse,
    print_ast,
    validate,
    validate_schema,
    visit,
)
from graphql.validation import ValidationContext, specified_rules
from graphql.validation.specified_rules import specified_sdl_rules
from graphql.validation.validate import validate_sdl


def name_of(rule):
    return rule.__name__.removesuffix("Rule").removesuffix("OnDirectives")


# The one left out is a recommendation of this implementation, not a rule of the specification.
RULES = {name_of(rule): rule for rule in specified_rules if "MaxIntrospection" not in name_of(rule)}


def place_of(error, text):
    """Counted here: the reference is a line short for what begins a line after an empty one."""
    if not error.positions:
        return [0, 0]
    before = text[: error.positions[0]]
    return [before.count("\n") + 1, len(before) - before.rfind("\n")]


def together(schema, document):
    """One walk for all rules, each with a context of its own."""
    type_info = TypeInfo(schema)
    found = {name: [] for name in RULES}
    visitors = [
        rule(ValidationContext(schema, document, type_info, found[name].append))
        for name, rule in RULES.items()
    ]
    visit(document, TypeInfoVisitor(type_info, ParallelVisitor(visitors)))
    return found, []


def alone(schema, document):
    """A walk for each rule: one that raises does not take the others with it."""
    found, failed = {}, []
    for name, rule in RULES.items():
        try:
            found[name] = validate(schema, document, [rule], max_errors=None)
        except Exception:
            failed.append(name)
    return found, failed


def faults_of_document(schema, text):
    document = parse(text)
    try:
        found, failed = together(schema, document)
    except Exception:
        found, failed = alone(schema, document)
    faults = [
        [name, *place_of(error, text)] for name, errors in found.items() for error in errors
    ]
    return {"faults": sorted(faults), "failed": failed}


def faults_of_sdl(text):
    try:
        document = parse(text)
    except GraphQLSyntaxError as error:
        return {"faults": [["Syntax", *place_of(error, text)]]}
    faults = []
    for rule in specified_sdl_rules:
        errors = validate_sdl(document, None, [rule])
        faults += [[name_of(rule), *place_of(error, text)] for error in errors]
    if not faults:
        try:
            schema = build_ast_schema(document, assume_valid_sdl=True)
            errors = validate_schema(schema)
            faults = [["Schema", *place_of(error, text)] for error in errors]
        except (GraphQLError, TypeError):
            faults = [["Schema", 0, 0]]
    return {"faults": sorted(faults)}


def printed(text):
    try:
        return print_ast(parse(text))
    except GraphQLSyntaxError:
        return None


def main():
    schemas = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "sdl" in request:
            answer = faults_of_sdl(request["sdl"])
        elif "parse" in request:
            answer = {"printed": printed(request["parse"])}
        else:
            sdl = request["schema"]
            if sdl not in schemas:
                schemas[sdl] = build_schema(sdl)
            if "query" in request:
                answer = graphql_sync(schemas[sdl], request["query"]).formatted
            else:
                answer = faults_of_document(schemas[sdl], request["document"])
        print(json.dumps(answer))


main()
