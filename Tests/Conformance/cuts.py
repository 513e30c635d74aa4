"""A cut of one request, at each class of bytes of it and of its response."""

import contextlib
import dataclasses
import socket

# While the request is sent; its end reaches Larder as the client's end does.
REQUEST_CUTS = ("beforeSending", "afterHead", "amidBody", "afterRequest")
# After Larder has responded.
RESPONSE_CUTS = ("beforeResponse", "inHead", "inBody", "beforeLastByte")
CLASSES = REQUEST_CUTS + RESPONSE_CUTS


@dataclasses.dataclass
class Cut:
    """A cut of the request with a number, counted from 1 over all connections."""

    number: int
    kind: str
    is_done: bool = False


def bytes_of_request(kind, head, body):
    """How many bytes of a request Larder gets. Where there is no body, the head is cut in its place."""
    if kind == "afterRequest":
        return head + body
    if not body:
        return head // 2 if kind == "afterHead" else head - 1
    return head if kind == "afterHead" else head + body // 2


def bytes_of_response(kind, head, body):
    """How many bytes of a response the client gets."""
    if kind == "beforeResponse":
        return 0
    if kind == "inHead":
        return head // 2
    return head + body // 2 if kind == "inBody" and body else head + body - 1


def received(onward):
    """A whole response, of a stream the first bytes of its body; and the length of its head."""
    data = b""
    while piece := onward.recv(1 << 16):
        data += piece
        head, end, body = data.partition(b"\r\n\r\n")
        if end and body and b"text/event-stream" in head.lower():
            break
    return data, len(data.partition(b"\r\n\r\n")[0]) + 4


def end(connection):
    """Ends a connection in order: what was sent before arrives, unlike with a reset."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
