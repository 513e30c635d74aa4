#!/usr/bin/env python3
"""Prints the licences and notices of the Swift packages in the binary, from their checkouts."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = re.compile(r"(LICEN[CS]E|NOTICE|COPYING)(\.txt|\.md)?$", re.IGNORECASE)


def checkouts():
    for folder in (ROOT / ".build/delivered/checkouts", ROOT / ".build/checkouts"):
        if folder.is_dir():
            return sorted((path for path in folder.iterdir() if path.is_dir()), key=lambda path: path.name.lower())
    sys.exit("notices: there is no folder of checkouts; run: swift package resolve")


def main():
    for package in checkouts():
        files = sorted(path for path in package.iterdir() if NAMES.match(path.name))
        if not any(path.name.upper().startswith(("LIC", "COPYING")) for path in files):
            sys.exit(f"notices: {package.name} has no licence")
        for path in files:
            print(f"{'=' * 78}\n{package.name}: {path.name}\n{'=' * 78}\n")
            print(path.read_text(encoding="utf-8").strip() + "\n")


main()
