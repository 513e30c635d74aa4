"""The raw requests of the parser's own tests, sent to a service, and the expected outcomes."""

import asyncio
import base64
import json
import pathlib
import re

from answers import Answers

CASES = pathlib.Path(__file__).resolve().parents[2] / "HTTPWireTests" / "Fixtures"
REFUSALS = {400, 408, 411, 413, 414, 417, 421, 426, 431, 501, 505}
TOGETHER = 48
# Octets that are sent one by one; the rest of a longer stream is sent at once.
SINGLE_OCTETS_MAX = 2200
SINGLE_OCTET_SECONDS = 0.0005
# The time limit of a response, and the wait where no more should come. A case that fails is repeated
# by itself with more patience: the machine could be busy.
ANSWER_SECONDS = 1.5
QUIET_SECONDS = 0.1
PATIENCE = 10


def cases():
    lines = (CASES / "http-requests.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


class Outcome:
    """The outcome of one stream of requests."""

    def __init__(self, answers, is_closed):
        self.statuses, self.notes = answers.statuses, answers.notes
        self.is_closed = is_closed
        self.classes = ["reject" if s in REFUSALS else "ok" for s in answers.statuses]
        if answers.is_other:
            self.classes.append("other")
        if not self.classes:
            self.classes = ["reject" if is_closed else "wait"]
        self.names = {name for fields in answers.fields for name in fields}

    def __str__(self):
        return f"{self.statuses or self.classes}, {'closed' if self.is_closed else 'open'}"


def complaints(case, outcome):
    """The faults of an outcome by the case's fields (see RequestCase.swift)."""
    first, count = outcome.classes[0], len(outcome.statuses)
    expected = case["expect"]
    if expected == "either":
        expected = case.get("prefer", "either")
    if "seq_any" in case:
        if outcome.classes not in case["seq_any"]:
            yield f"{outcome.classes} is not one of {case['seq_any']}"
    elif not (first == "wait" and case.get("wait")):
        wanted = ("ok", "reject") if expected == "either" else (expected,)
        if first not in wanted:
            yield f"expected {expected}"
        if first == "ok" and count != case.get("n", count):
            yield f"{count} answers, not {case['n']}"
    if count > case.get("max", count):
        yield f"{count} answers, more than {case['max']}"
    if case.get("close") is True and not outcome.is_closed and first != "wait":
        yield "left open"
    if case.get("close") is False and outcome.is_closed and first == "ok":
        yield "closed"
    for status in outcome.statuses:
        if {str(status), f"{status // 100}xx"} & set(case.get("forbid", [])):
            yield f"{status} must not come"
    if first == "reject" and outcome.statuses:
        if outcome.statuses[0] not in case.get("status", outcome.statuses):
            yield f"{outcome.statuses[0]}, not one of {case['status']}"
    if case.get("forbid_header") in outcome.names:
        yield f"a field {case['forbid_header']}"
    yield from outcome.notes


async def exchange(port, context, case, is_split, patience=1):
    """Sends one case over a connection of its own."""
    octets = base64.b64decode(case["bytes_base64"])
    method = re.match(rb"[\r\n]*([A-Za-z]+) ", octets)
    answers = Answers(case.get("methods") or [method[1].decode() if method else "GET", "GET"])
    name = "localhost" if context else None
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname=name
    )
    sending = asyncio.ensure_future(send(writer, octets, is_split))
    try:
        is_closed = await receive(reader, sending, answers, case, patience)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.transport.abort()
    return Outcome(answers, is_closed)


async def send(writer, octets, is_split):
    try:
        if is_split:
            for at in range(min(len(octets), SINGLE_OCTETS_MAX)):
                writer.write(octets[at : at + 1])
                await asyncio.sleep(SINGLE_OCTET_SECONDS)
            octets = octets[SINGLE_OCTETS_MAX:]
        writer.write(octets)
        await writer.drain()
    except OSError:
        # The service can have sent its last response.
        pass


async def receive(reader, sending, answers, case, patience):
    """Reads responses until there can be no more; whether the service ended the connection."""
    wanted = case.get("n") or (len(case["seq_any"][0]) if "seq_any" in case else 1)
    while True:
        is_sent = sending.done()
        is_enough = answers.is_other or len(answers.statuses) >= wanted
        is_ending = case.get("close") is True
        seconds = QUIET_SECONDS if is_enough and not is_ending else ANSWER_SECONDS
        try:
            async with asyncio.timeout(seconds * patience):
                octets = await reader.read(65536)
        except TimeoutError:
            if is_sent:
                return False
            # Data sent in the meantime can bring responses.
            continue
        except OSError:
            octets = b""
        if not octets:
            answers.end()
            return True
        answers.take(octets)


async def failures(port, context, is_split):
    """Runs every case; returns a line for each failed one."""
    found = []
    turns = asyncio.Semaphore(TOGETHER)

    async def look(case):
        async with turns:
            outcome = await exchange(port, context, case, is_split)
        if list(complaints(case, outcome)):
            found.append(case)

    every = cases()
    assert len(every) > 300, f"only {len(every)} cases"
    await asyncio.gather(*map(look, every))
    lines = []
    for case in found:
        outcome = await exchange(port, context, case, is_split, PATIENCE)
        if wrong := "; ".join(complaints(case, outcome)):
            lines.append(f"{case['id']}: {wrong} ({outcome})")
    return lines
