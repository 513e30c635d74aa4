"""parse.py typescript|kotlin FOLDER: parses the files of a folder; fails with the place of each error."""
import pathlib
import sys

import tree_sitter
import tree_sitter_kotlin
import tree_sitter_typescript

LANGUAGES = {
    "typescript": (tree_sitter_typescript.language_typescript, ".ts"),
    "kotlin": (tree_sitter_kotlin.language, ".kt"),
}


def errors(node):
    """The nodes that the parser could not read, and those that it missed."""
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        yield from errors(child)


language, suffix = LANGUAGES[sys.argv[1]]
parser = tree_sitter.Parser(tree_sitter.Language(language()))
files = sorted(path for path in pathlib.Path(sys.argv[2]).iterdir() if path.suffix == suffix)
places = []
for path in files:
    text = path.read_bytes()
    for node in errors(parser.parse(text).root_node):
        line, column = node.start_point
        shown = text[node.start_byte : node.end_byte][:60]
        places.append(f"{path.name}:{line + 1}:{column + 1}: {node.type} {shown!r}")
print("\n".join(places) if places else f"{len(files)} files")
sys.exit(1 if places else 0)
