"""Checks OpenAPI documents with openapi-spec-validator, and values with the schemas of their components.

One JSON text per line in: {"document", "values": [{"schema", "value"}]}. One out: the list of the document's
faults, and for each value whether its schema accepts it.
"""

import json
import sys

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

for line in sys.stdin:
    request = json.loads(line)
    document = request["document"]
    faults = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
    accepted = []
    for check in request["values"]:
        schema = {"$ref": f"#/components/schemas/{check['schema']}", "components": document["components"]}
        accepted.append(Draft202012Validator(schema).is_valid(check["value"]))
    print(json.dumps({"faults": faults, "accepted": accepted}))
