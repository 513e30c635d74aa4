"""Requests that no correct client sends: chunked content in its three forms with faults in it, wrong
clocks, wrong digests, content that is short or breaks off."""

import base64
import datetime
import hashlib
import hmac
import http.client
import socket
import struct
import urllib.parse
import zlib

from running import REGION
from service import MemoryWatch, eventually

EMPTY = hashlib.sha256(b"").hexdigest()
CHUNK_BYTES = 16 << 10
# More than is buffered in memory.
LARGE_BYTES = 12 << 20
# So long that a copy of it, or of a large part, would show.
LONG_BYTES = 320 << 20
GROWTH_BYTES_MAX = 40 << 20
SIGNED, SIGNED_TRAILER, UNSIGNED_TRAILER = (
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
)


class Signer:
    """A minimal signer, independent of the service's."""

    def __init__(self, larder, key=None, moment=None, secret=None):
        key = key or larder.key
        self.larder, self.access = larder, key["accessKeyId"]
        secret = secret or key["secretAccessKey"]
        moment = moment or datetime.datetime.now(datetime.timezone.utc)
        self.time = moment.strftime("%Y%m%dT%H%M%SZ")
        self.scope = f"{self.time[:8]}/{REGION}/s3/aws4_request"
        self.key = b"AWS4" + secret.encode()
        for part in self.scope.split("/"):
            self.key = hmac.digest(self.key, part.encode(), "sha256")

    def sign(self, kind, *lines):
        text = "\n".join([f"AWS4-HMAC-SHA256{kind}", self.time, self.scope, *lines])
        return hmac.digest(self.key, text.encode(), "sha256").hex()

    def fields(self, method, path, query="", fields=None, payload=EMPTY, unsigned=None):
        """The fields of a signed request; `self.seed` is its signature."""
        fields = {
            "host": f"127.0.0.1:{self.larder.port}", "x-amz-content-sha256": payload,
            "x-amz-date": self.time, **(fields or {}),
        }
        names = sorted(fields)
        text = "\n".join([
            method, urllib.parse.quote(path, safe="/-._~"), query,
            *(f"{name}:{fields[name]}" for name in names), "", ";".join(names), payload,
        ])
        self.seed = self.sign("", hashlib.sha256(text.encode()).hexdigest())
        fields["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access}/{self.scope},"
            f"SignedHeaders={';'.join(names)},Signature={self.seed}"
        )
        return {**fields, **(unsigned or {})}

    def put(self, path, body, payload=None, fields=None, unsigned=None):
        payload = payload or hashlib.sha256(body).hexdigest()
        fields = self.fields("PUT", path, fields=fields, payload=payload, unsigned=unsigned)
        status, _, answer = self.larder.request("PUT", path, body, fields)
        return status, code(answer)


def code(answer):
    return answer.split(b"<Code>")[1].split(b"</Code>")[0].decode() if b"<Code>" in answer else ""


def chunked(signer, content, form, trailer=None, spoil=lambda number, chunk: chunk, last=None):
    """The content in chunks, signed from `signer.seed` on if the form is signed."""
    pieces = [content[at:at + CHUNK_BYTES] for at in range(0, len(content), CHUNK_BYTES)] + [b""]
    previous, body = signer.seed, b""
    for number, piece in enumerate(pieces):
        line = f"{len(piece):x}"
        if form != UNSIGNED_TRAILER:
            digest = hashlib.sha256(piece).hexdigest()
            previous = signer.sign("-PAYLOAD", previous, EMPTY, digest)
            line += f";chunk-signature={previous}"
        body += spoil(number, f"{line}\r\n".encode() + piece + (b"\r\n" if piece else b""))
    for name, value in (trailer or {}).items():
        body += f"{name}:{value}\r\n".encode()
    if form == SIGNED_TRAILER:
        lines = "".join(f"{name}:{value}\n" for name, value in (trailer or {}).items())
        digest = hashlib.sha256(lines.encode()).hexdigest()
        signature = last or signer.sign("-TRAILER", previous, digest)
        body += f"x-amz-trailer-signature:{signature}\r\n".encode()
    return body + b"\r\n"


def stream(larder, content, form, trailer=None, announced=None, length=None, **options):
    """Puts content in chunks; returns the status and the code."""
    signer = Signer(larder)
    fields = {
        "content-encoding": "aws-chunked",
        "x-amz-decoded-content-length": str(len(content) if length is None else length),
    }
    if trailer or announced:
        fields["x-amz-trailer"] = announced or ",".join(trailer)
    fields = signer.fields("PUT", "/s3/chunks/c", fields=fields, payload=form)
    body = chunked(signer, content, form, trailer, **options)
    status, headers, answer = larder.request("PUT", "/s3/chunks/c", body, fields)
    return status, code(answer), headers


def crc32(content):
    return base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()


def accepts_chunked_content(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="chunks")
    content = bytes(range(256)) * 300
    trailer = {"x-amz-checksum-crc32": crc32(content)}
    for form in (SIGNED, SIGNED_TRAILER, UNSIGNED_TRAILER):
        for body in (content, b"", b"x" * CHUNK_BYTES):
            ending = {"x-amz-checksum-crc32": crc32(body)} if form != SIGNED else None
            answer = stream(larder, body, form, ending)
            assert answer[:2] == (200, ""), (form, answer)
            got = s3.get_object(Bucket="chunks", Key="c", ChecksumMode="ENABLED")
            assert got["Body"].read() == body and "ContentEncoding" not in got
            if ending:
                assert answer[2]["x-amz-checksum-crc32"] == ending["x-amz-checksum-crc32"]
                assert got["ChecksumCRC32"] == ending["x-amz-checksum-crc32"]

    # Whatever the fault, the object is unchanged.
    assert stream(larder, b"before", SIGNED)[0] == 200
    wrong = {"x-amz-checksum-crc32": crc32(b"other")}

    def flip(at):
        return lambda number, chunk: chunk[:-9] + b"?" + chunk[-8:] if number == at else chunk

    faults = (
        ((SIGNED,), {"spoil": flip(1)}, 403, "SignatureDoesNotMatch"),
        ((SIGNED,), {"spoil": flip(5)}, 400, "IncompleteBody"),
        ((SIGNED,), {"length": len(content) + 1}, 400, "IncompleteBody"),
        ((SIGNED,), {"length": len(content) - 1}, 400, "IncompleteBody"),
        ((SIGNED,), {"spoil": lambda number, chunk: b"zz" + chunk}, 400, "IncompleteBody"),
        ((SIGNED_TRAILER, trailer), {"last": "0" * 64}, 403, "SignatureDoesNotMatch"),
        ((SIGNED_TRAILER, wrong), {}, 400, "BadDigest"),
        ((UNSIGNED_TRAILER, wrong), {}, 400, "BadDigest"),
        ((UNSIGNED_TRAILER,), {"announced": "x-amz-checksum-crc32"}, 400, "InvalidArgument"),
        ((UNSIGNED_TRAILER, {"x-amz-checksum-crc32": "?"}), {}, 400, "InvalidArgument"),
        ((UNSIGNED_TRAILER, {"x-amz-checksum-sha512": "?"}), {}, 400, "InvalidRequest"),
    )
    for arguments, options, status, expected in faults:
        answer = stream(larder, content, *arguments, **options)
        assert answer[:2] == (status, expected), (arguments, options.keys(), answer[:2])
        assert s3.get_object(Bucket="chunks", Key="c")["Body"].read() == b"before"


def does_not_buffer_chunks(larder):
    """Four times the content takes no more memory than the content."""
    larder.s3().create_bucket(Bucket="long")

    def put(count):
        signer = Signer(larder)
        fields = signer.fields("PUT", "/s3/long/c", payload=SIGNED, fields={
            "content-encoding": "aws-chunked", "x-amz-decoded-content-length": str(count),
        })
        sizes = [1 << 20] * (count >> 20) + [0]
        fields["content-length"] = str(sum(
            len(f"{size:x};chunk-signature=") + 64 + 4 + size for size in sizes))
        content = hashlib.md5()
        with MemoryWatch(larder) as memory:
            body = signed_chunks(signer, sizes, content)
            status, headers, answer = larder.request("PUT", "/s3/long/c", body, fields)
        assert status == 200, answer
        assert headers["etag"] == f'"{content.hexdigest()}"', (headers["etag"], count)
        return memory.peak_bytes

    small, large = put(LONG_BYTES // 4), put(LONG_BYTES)
    assert large - small <= GROWTH_BYTES_MAX, (small, large)
    larder.s3().delete_object(Bucket="long", Key="c")


def signed_chunks(signer, sizes, content):
    """Chunks of these sizes, all different, added to `content`."""
    previous = signer.seed
    for number, size in enumerate(sizes):
        piece = number.to_bytes(4, "big") * (size // 4)
        content.update(piece)
        digest = hashlib.sha256(piece).hexdigest()
        previous = signer.sign("-PAYLOAD", previous, EMPTY, digest)
        yield f"{len(piece):x};chunk-signature={previous}\r\n".encode() + piece + b"\r\n"


def refuses_wrong_signatures(larder):
    larder.s3().create_bucket(Bucket="rude")
    now = datetime.datetime.now(datetime.timezone.utc)

    def minutes(count):
        return now + datetime.timedelta(minutes=count)

    def put(signer, **options):
        return signer.put("/s3/rude/k", b"content", **options)

    assert put(Signer(larder)) == (200, "")
    assert put(Signer(larder, moment=minutes(14))) == (200, "")
    assert put(Signer(larder, moment=minutes(16))) == (403, "RequestTimeTooSkewed")
    assert put(Signer(larder, moment=minutes(-16))) == (403, "RequestTimeTooSkewed")
    assert put(Signer(larder, secret="wrong")) == (403, "SignatureDoesNotMatch")
    stranger = {"accessKeyId": "LARDERNOBODY", "secretAccessKey": "x"}
    assert put(Signer(larder, stranger)) == (403, "InvalidAccessKeyId")
    assert put(Signer(larder), unsigned={"x-amz-meta-a": "b"}) == (403, "AccessDenied")
    assert put(Signer(larder), payload=hashlib.sha256(b"other").hexdigest()) == (
        400, "XAmzContentSHA256Mismatch",
    )
    assert put(Signer(larder), payload="nonsense") == (400, "InvalidArgument")
    assert put(Signer(larder), payload="UNSIGNED-PAYLOAD") == (200, "")
    for authorization, expected in (
        ("AWS AKID:c2lnbmF0dXJl", (400, "InvalidRequest")),
        ("AWS4-HMAC-SHA256 Credential=x", (400, "AuthorizationHeaderMalformed")),
        ("Bearer token", (400, "InvalidRequest")),
    ):
        status, fields, answer = larder.request(
            "GET", "/s3/rude/k", headers={"authorization": authorization}
        )
        assert (status, code(answer)) == expected, (authorization, status, answer)
        assert fields["content-type"] == "application/xml" and fields["x-amz-request-id"]
    # The expected string to sign is in the log, and not in the response.
    signer = Signer(larder, secret="wrong")
    fields = signer.fields("GET", "/s3/rude/k", unsigned={"request-id": "the-refused-one"})
    status, _, answer = larder.request("GET", "/s3/rude/k", headers=fields)
    assert status == 403 and b"x-amz-date:" not in answer, answer
    level = {"authorization": f"Bearer {larder.token}", "content-type": "application/json"}
    assert larder.request("PUT", "/v1/admin/log-level", '{"level":"debug"}', level)[0] == 200
    larder.request("GET", "/s3/rude/k", headers=fields)
    assert larder.request("PUT", "/v1/admin/log-level", '{"level":"notice"}', level)[0] == 200
    # Its lines arrive a moment after the responses.
    assert eventually(lambda: "x-amz-date:" in larder.said and "the-refused-one" in larder.said)
    assert larder.key["secretAccessKey"] not in larder.said


def faulty_writes_keep_the_object(larder):
    """Short or interrupted content, and invalid documents, leave the object unchanged."""
    s3 = larder.s3()
    s3.create_bucket(Bucket="kept")
    s3.put_object(Bucket="kept", Key="k", Body=b"before")
    content = b"x" * 300_000
    for sent in (0, 1000, 299_999):
        signer = Signer(larder)
        fields = signer.fields("PUT", "/s3/kept/k", payload=hashlib.sha256(content).hexdigest())
        fields["content-length"] = str(len(content))
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        with larder.connect() as connection:
            connection.sendall(f"PUT /s3/kept/k HTTP/1.1\r\n{lines}\r\n".encode() + content[:sent])
            connection.shutdown(socket.SHUT_WR)
            connection.recv(4096)
    assert s3.get_object(Bucket="kept", Key="k")["Body"].read() == b"before"
    # A client that expects 100 gets the refusal before it sends.
    signer = Signer(larder, secret="wrong")
    fields = signer.fields("PUT", "/s3/kept/k", payload="UNSIGNED-PAYLOAD")
    fields |= {"content-length": "5000000", "expect": "100-continue"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with larder.connect() as connection:
        connection.sendall(f"PUT /s3/kept/k HTTP/1.1\r\n{lines}\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 403")
    for length in ("6000000000", "99999999999999", str((1 << 63) - 1)):
        fields = Signer(larder).fields("PUT", "/s3/kept/k", payload="UNSIGNED-PAYLOAD")
        fields |= {"content-length": length, "expect": "100-continue"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        with larder.connect() as connection:
            connection.sendall(f"PUT /s3/kept/k HTTP/1.1\r\n{lines}\r\n".encode())
            answer = connection.recv(4096)
            assert answer.startswith(b"HTTP/1.1 400") and code(answer) == "EntityTooLarge", answer
    for body in (
        b"", b"<Delete>", b"<Other/>", b"<Delete/>", b"nonsense",
        b"<!DOCTYPE a [<!ENTITY x 'k'>]><Delete><Object><Key>&x;</Key></Object></Delete>",
        b"<Delete>" + b"<Object><Key>k</Key></Object>" * 1001 + b"</Delete>",
    ):
        signer = Signer(larder)
        payload = hashlib.sha256(body).hexdigest()
        fields = signer.fields("POST", "/s3/kept", "delete=", payload=payload)
        status, _, answer = larder.request("POST", "/s3/kept?delete", body, fields)
        assert (status, code(answer)) == (400, "MalformedXML"), (body[:60], status, answer)
    assert s3.get_object(Bucket="kept", Key="k")["Body"].read() == b"before"
    signer = Signer(larder)
    connection = http.client.HTTPConnection("127.0.0.1", larder.port, timeout=20)
    connection.putrequest("PUT", "/s3/kept/k", skip_host=True, skip_accept_encoding=True)
    for name, value in signer.fields("PUT", "/s3/kept/k").items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, code(answer.read())) == (411, "MissingContentLength")
    connection.close()


def interrupted_writes_leave_nothing(larder):
    """Clients that disconnect in the middle, by a close or by a reset."""
    s3 = larder.s3()
    s3.create_bucket(Bucket="broken")
    s3.put_object(Bucket="broken", Key="k", Body=b"before")
    upload = {"Bucket": "broken", "Key": "p"}
    upload["UploadId"] = s3.create_multipart_upload(**upload)["UploadId"]
    part = s3.upload_part(**upload, PartNumber=1, Body=b"before")
    known = len(larder.left_over("broken"))
    query = f"partNumber=1&uploadId={urllib.parse.quote(upload['UploadId'], safe='')}"
    content = b"x" * LARGE_BYTES
    for target in ("/s3/broken/k", f"/s3/broken/p?{query}"):
        for count in (1000, LARGE_BYTES // 2, LARGE_BYTES - 1):
            for reset in (False, True):
                send_some(larder, target, content, count, reset)
    assert eventually(lambda: len(larder.left_over("broken")) == known), larder.left_over("broken")
    assert s3.get_object(Bucket="broken", Key="k")["Body"].read() == b"before"
    parts = s3.list_parts(**upload)["Parts"]
    assert [(one["ETag"], one["Size"]) for one in parts] == [(part["ETag"], 6)], parts
    s3.abort_multipart_upload(**upload)
    assert eventually(lambda: not larder.left_over("broken")), larder.left_over("broken")
    assert "error" not in larder.said, larder.said


def send_some(larder, target, content, count, reset):
    """Begins to put content, and disconnects once the service is storing it."""
    path, _, query = target.partition("?")
    digest = hashlib.sha256(content).hexdigest()
    fields = Signer(larder).fields("PUT", path, query, payload=digest)
    fields["content-length"] = str(len(content))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with larder.connect() as connection:
        connection.sendall(f"PUT {target} HTTP/1.1\r\n{lines}\r\n".encode() + content[:count])
        if larder.service is None:
            assert eventually(lambda: larder.left_over("broken")), "nothing is written"
        if reset:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


CHECKS = (
    accepts_chunked_content, refuses_wrong_signatures, faulty_writes_keep_the_object,
    interrupted_writes_leave_nothing, does_not_buffer_chunks,
)
