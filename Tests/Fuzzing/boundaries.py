"""Compares the request boundaries of Larder and of h11, a strict server in Python.

Streams are the raw cases of the tests, cut, joined and damaged. Larder may refuse requests that h11
accepts: it is the stricter one. Requests that it accepts, h11 must accept as well, with the same
boundaries and the same content, except for the differences in ALLOWED. Anything else could be used
for request smuggling through a proxy.
"""

import argparse
import json
import pathlib
import random
import re
import sys

import h11

from witness import Witness

# Requests that Larder accepts and h11 refuses: a part of h11's message, a pattern that the request
# must match for the exception to apply, and the reason why no boundary can differ.
ALLOWED = [
    ("bad Content-Length", re.compile(rb"(?i)\r\ncontent-length:[ \t]*0\d{20,}[ \t]*\r\n"),
     "h11 accepts 20 digits, leading zeros included"),
    ("illegal chunk header", re.compile(rb"\r\n[0-9A-Fa-f]+(?:[ \t]+;|;[^\r\n]*[ \t])[^\r\n]*\r\n"),
     "h11 knows no blanks around a chunk extension; both read the same size"),
]
TRAILER = "h11 validates trailer fields like header fields; Larder drops them all"

# The pieces that random edits insert: the tokens of every framing rule.
PIECES = [
    b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\0", b":", b",", b";", b"0", b"5", b"a", b"\x0b",
    b"\x80", b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: identity\r\n", b"Host: b\r\n", b"0\r\n\r\n", b"5\r\nhello\r\n", b"HTTP/1.0",
    b"HTTP/1.1", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"Connection: close\r\n", b"chunked", b"+", b"-",
    b"0x", b"00", b";a=b", b"POST",
]
# The last chunk, and the trailer fields after it.
LAST_CHUNK = re.compile(rb"(\r\n0+[^\r\n]*\r\n)(?:[^\r\n]+\r\n)+\r\n\Z")
STREAM_BYTES_MAX = 4096
REPORTS_MAX = 5


def h11_read(stream, count):
    """The first `count` requests as h11 parses them, and its message if it refuses the next one.

    Each is parsed by a connection of its own, after the empty lines that a server may skip before a
    request (RFC 9112 2.2) and h11 does not.
    """
    requests, start = [], 0
    try:
        while len(requests) < count:
            while stream.startswith(b"\r\n", start):
                start += 2
            request, goes_on = h11_read_one(stream[start:])
            if request is None:
                return requests, None
            start += request["end"]
            requests.append(request | {"end": start})
            if not goes_on:
                return requests, None
    except h11.RemoteProtocolError as error:
        return requests, str(error)
    return requests, None


def h11_read_one(stream):
    """A request, and whether the connection persists after it."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=64 * 1024)
    connection.receive_data(stream)
    request, body = None, b""
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            end = len(stream) - len(connection.trailing_data[0])
            connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
            connection.send(h11.EndOfMessage())
            return {
                "method": request.method.decode(), "target": request.target.decode("latin-1"),
                "end": end, "body": body.hex(),
            }, connection.our_state is not h11.MUST_CLOSE or keeps_old(request)
        else:
            return None, False


def keeps_old(request):
    """Whether an HTTP/1.0 client keeps its connection, which h11 never does."""
    options = b",".join(value for name, value in request.headers if name == b"connection").lower()
    names = [option.strip(b" \t") for option in options.split(b",")]
    return request.http_version == b"1.0" and b"keep-alive" in names and b"close" not in names


def excused(complaint, request, bytes_of_request):
    """The reason why h11 may refuse a request that Larder accepts; None if there is none."""
    for part, shown, reason in ALLOWED:
        if part in complaint and shown.search(bytes_of_request):
            return reason
    return TRAILER if is_same_without_trailer(request, bytes_of_request) else None


def is_same_without_trailer(request, bytes_of_request):
    """Whether h11 agrees without the trailer fields."""
    plain = LAST_CHUNK.sub(rb"\1\r\n", bytes_of_request.lstrip(b"\r\n"))
    try:
        theirs, _ = h11_read_one(plain)
    except h11.RemoteProtocolError:
        return False
    return theirs == {name: request[name] for name in ("method", "target", "body")} | {
        "end": len(plain)}


def mutated(cases, chance):
    stream = chance.choice(cases)
    if chance.random() < 0.3:
        stream += chance.choice(cases)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
        place = chance.randrange(len(stream) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            stream = stream[:place] + chance.choice(PIECES) + stream[place:]
        elif kind == 1:
            stream = stream[:place] + stream[place + chance.randrange(1, 4):]
        elif kind == 2:
            stream = stream[:place] + bytes([chance.randrange(256)]) + stream[place + 1:]
        elif kind == 3:
            other = chance.choice(cases)
            stream = stream[:place] + other[chance.randrange(len(other) + 1):]
        else:
            lines = stream.split(b"\r\n")
            line = chance.randrange(len(lines))
            lines.insert(chance.randrange(len(lines) + 1), lines[line])
            stream = b"\r\n".join(lines)
    return stream[:STREAM_BYTES_MAX]


def difference(larder, stream):
    """None, or ("allowed" | "FOUND", the difference)."""
    ours = json.loads(larder.ask(stream))
    theirs, complaint = h11_read(stream, len(ours["requests"]))
    for number, request in enumerate(ours["requests"]):
        if number >= len(theirs):
            start = ours["requests"][number - 1]["end"] if number else 0
            excuse = complaint and excused(complaint, request, stream[start:request["end"]])
            if excuse:
                return "allowed", excuse
            return "FOUND", f"taken: {request}; h11 says {complaint or 'it is not complete'}"
        for name in ("method", "target", "end", "body"):
            if request[name] != theirs[number][name]:
                return "FOUND", f"{name}: {request[name]!r}; for h11 {theirs[number][name]!r}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--streams", type=int, default=20000)
    parser.add_argument("--witness", required=True)
    parser.add_argument("--findings", type=pathlib.Path, required=True)
    options = parser.parse_args()

    cases = [path.read_bytes() for path in sorted((options.findings.parent / "seeds/witness").iterdir())]
    larder = Witness(options.witness)
    chance = random.Random(options.seed)
    tally = {}
    streams = cases + [mutated(cases, chance) for _ in range(options.streams)]
    for stream in streams:
        outcome = difference(larder, stream)
        if outcome is None:
            continue
        tally[outcome] = tally.get(outcome, 0) + 1
        found = [key for key in tally if key[0] == "FOUND"]
        if outcome[0] == "FOUND" and len(found) <= REPORTS_MAX:
            report(options.findings / "boundaries", len(found), stream, outcome[1])
    larder.close()

    found = sum(count for (kind, _), count in tally.items() if kind == "FOUND")
    allowed = sum(count for (kind, _), count in tally.items() if kind == "allowed")
    for (kind, what), count in sorted(tally.items()):
        if kind == "allowed":
            print(f"boundaries: {count} times {what}")
    print(f"{'boundaries':18} {len(streams):10} streams, seed {options.seed},"
          f" {allowed} allowed differences" + (f", FOUND {found}" if found else ""))
    sys.exit(1 if found else 0)


def report(folder, number, stream, what):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number}"
    path.write_bytes(stream)
    print(f"boundaries: {what[:300]}\n  stream in {path}: {stream[:300]!r}")


if __name__ == "__main__":
    main()
