"""same_schema.py A B: whether two SDL files are equivalent, regardless of order and layout.

Compared with the reference implementation's own printer.
"""

import difflib
import pathlib
import sys

from graphql import build_schema, lexicographic_sort_schema, print_schema


def normal(path):
    text = pathlib.Path(path).read_text()
    return print_schema(lexicographic_sort_schema(build_schema(text))).splitlines()


differences = list(difflib.unified_diff(normal(sys.argv[1]), normal(sys.argv[2]), lineterm=""))
for line in differences:
    print(line)
sys.exit(1 if differences else 0)
