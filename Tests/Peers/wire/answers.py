"""Parses the responses on one connection as they arrive, and records their faults."""

import re

STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-9][0-9]{2}) [\t\x20-\x7e\x80-\xff]*")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})")
DATE = re.compile(
    "(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} "
    "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
)
# Fields that a response of a status must have (RFC 9110, section 15).
OWED = {
    401: "www-authenticate", 405: "allow", 416: "content-range", 426: "upgrade",
}


class NotHTTP(Exception):
    """The octets are not an HTTP/1.1 response."""


class Answers:
    """The responses to the requests of one connection, whose methods say which have no content."""

    def __init__(self, methods):
        self.statuses, self.fields, self.notes = [], [], []
        self.is_other = False
        self._methods, self._pending = methods, b""

    def take(self, octets):
        """Parses octets. After the first fault of HTTP, nothing more is parsed."""
        self._pending += octets
        try:
            while not self.is_other and self._take_one():
                pass
        except NotHTTP as fault:
            self.is_other = True
            self.notes.append(str(fault))

    def end(self):
        """Ends the connection."""
        if self._pending and not self.is_other:
            self.notes.append("the last answer is cut short")

    def _take_one(self):
        """Whether a response was complete."""
        head, blank, rest = self._pending.partition(b"\r\n\r\n")
        if not blank:
            beginning = self._pending[:7]
            if not b"HTTP/1.".startswith(beginning):
                raise NotHTTP(f"not HTTP: {self._pending[:20]!r}")
            return False
        lines = head.split(b"\r\n")
        match = STATUS_LINE.fullmatch(lines[0])
        if not match:
            raise NotHTTP(f"status line {lines[0]!r}")
        status, fields = int(match.group(1)), self._read(lines[1:])
        if status < 200:
            if {"content-length", "transfer-encoding"} & fields.keys():
                self.notes.append(f"a length in a {status}")
            self._pending = rest
            return True
        length = self._length(status, fields, rest)
        if length is None:
            return False
        self._judge(status, fields)
        self.statuses.append(status)
        self.fields.append(fields)
        self._pending = rest[length:]
        return True

    def _read(self, lines):
        fields = {}
        for line in lines:
            match = FIELD.fullmatch(line)
            if not match:
                raise NotHTTP(f"field line {line[:40]!r}")
            name, value = (part.decode("latin-1") for part in match.groups())
            fields.setdefault(name.lower(), []).append(value.rstrip(" \t"))
        return fields

    def _length(self, status, fields, rest):
        """The length of the framed content; None while it is incomplete."""
        method = self._methods[min(len(self.statuses), len(self._methods) - 1)]
        if method == "HEAD" or status in (204, 304):
            return 0
        if "transfer-encoding" in fields:
            return chunked_length(rest)
        lengths = fields.get("content-length", [])
        if len(lengths) != 1 or not lengths[0].isdigit():
            raise NotHTTP(f"a {status} with the lengths {lengths}")
        return int(lengths[0]) if len(rest) >= int(lengths[0]) else None

    def _judge(self, status, fields):
        if {"content-length", "transfer-encoding"} <= fields.keys():
            self.notes.append("both Content-Length and Transfer-Encoding")
        if fields.get("transfer-encoding", ["chunked"]) != ["chunked"]:
            self.notes.append(f"Transfer-Encoding {fields['transfer-encoding']}")
        if status == 204 and {"content-length", "transfer-encoding"} & fields.keys():
            self.notes.append("a length in a 204")
        dates = fields.get("date", [])
        if len(dates) != 1 or not DATE.fullmatch(dates[0]):
            self.notes.append(f"Date {dates} in a {status}")
        if status in OWED and OWED[status] not in fields:
            self.notes.append(f"a {status} without {OWED[status]}")


def chunked_length(octets):
    """The length of a chunked body; None while it is incomplete."""
    position = 0
    while True:
        end = octets.find(b"\r\n", position)
        if end < 0:
            return None
        if not CHUNK.fullmatch(octets, position, end):
            raise NotHTTP(f"chunk size {octets[position:end][:40]!r}")
        size = int(octets[position:end], 16)
        if size == 0:
            return end + 4 if len(octets) >= end + 4 else None
        position = end + 2 + size + 2
        if len(octets) < position:
            return None
        if octets[position - 2 : position] != b"\r\n":
            raise NotHTTP("a chunk longer than its size")
