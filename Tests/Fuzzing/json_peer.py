"""Compares the texts that Larder and Python accept as JSON, and the parsed values.

The texts are the seeds, the corpus of the target json-text, and damaged texts of both.
"""

import argparse
import json
import pathlib
import random
import re
import sys

from witness import Witness

# JSONLimits.depthDefault: Larder refuses deeper nesting.
DEPTH_MAX = 128
PIECES = [
    b'"', b"\\", b"\\u", b"\\ud83d\\ude00", b"[", b"]", b"{", b"}", b":", b",", b"0", b"-", b".", b"e",
    b"+", b" ", b"\n", b"\t", b"\0", b"\x1f", b"\x7f", b"\x80", b"\xc3\xa9", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"null", b"true", b"NaN", b"Infinity", b"//", b"1e400", b"00",
]
REPORTS_MAX = 5


# The result for a text that is not JSON; not a value of any text.
REFUSED = object()


class Deep(Exception):
    """Nested deeper than Larder accepts."""


def depth(value):
    children = [inner for pair in value[1] for inner in pair] if is_object(value) else value
    return 1 + max(map(depth, children), default=0) if isinstance(children, list) else 0


def is_object(value):
    return isinstance(value, tuple) and value[0] == "object"


def refuse(word):
    raise ValueError(word)


def python_reading(text):
    """The value, numbers as their digits and members in order; REFUSED if it is not JSON."""
    try:
        value = json.loads(
            text.decode("utf-8"), parse_constant=refuse, parse_int=lambda digits: ("number", digits),
            parse_float=lambda digits: ("number", digits),
            object_pairs_hook=lambda pairs: ("object", [list(pair) for pair in pairs]))
    except ValueError:
        return REFUSED
    except RecursionError as error:
        raise Deep from error
    if depth(value) > DEPTH_MAX:
        raise Deep
    return value


def without_surrogates(value):
    """An unpaired surrogate is not a character: Larder reads U+FFFD."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(without_surrogates, value))
    return value


def damaged(texts, chance):
    text = chance.choice(texts)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(text) + 1)
        piece = chance.choice(PIECES) if chance.random() < 0.6 else bytes([chance.randrange(256)])
        text = text[:place] + piece + text[place + chance.choice((0, 0, 1, len(piece))):]
    return text


def differs(larder, text):
    """The difference; None if there is none."""
    written = larder.ask(text)
    try:
        value = python_reading(text)
    except Deep:
        return "Larder takes what is nested too deep" if written else None
    if value is REFUSED or not written:
        if (value is REFUSED) == (not written):
            return None
        return "only Larder takes it" if written else "only Python takes it"
    return None if python_reading(written) == without_surrogates(value) else f"read as {written!r}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=int, default=20000)
    parser.add_argument("--witness", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()

    folders = [options.work / name / "json-text" for name in ("seeds", "corpus")]
    texts = [path.read_bytes() for folder in folders if folder.is_dir()
             for path in sorted(folder.iterdir())]
    chance = random.Random(options.seed)
    larder = Witness(options.witness)
    found = 0
    for text in texts + [damaged(texts, chance) for _ in range(options.texts)]:
        what = differs(larder, text)
        if what:
            found += 1
            if found <= REPORTS_MAX:
                print(f"json-peer: {what[:300]}\n  text: {text[:300]!r}")
    larder.close()
    print(f"{'json-peer':18} {len(texts) + options.texts:10} texts, seed {options.seed}"
          + (f", FOUND {found}" if found else ""))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
