"""Larder's traces, read with OpenTelemetry's own messages.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

The collector parses each export into `ExportTraceServiceRequest` of the package opentelemetry-proto; a member
that the messages lack, or a value of another kind, is a fault.
"""

import base64
import contextlib
import http.client
import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest, ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from check_run import run  # noqa: E402

FILMS = pathlib.Path(__file__).resolve().parents[3] / "Examples" / "films"
WAIT_SECONDS_MAX = 40
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = f"00-{TRACE}-{PARENT}-01"
# Fields that hold ids: hexadecimal in OTLP's JSON, base64 in that of protobuf.
IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def eventually(condition, seconds=WAIT_SECONDS_MAX):
    """Waits until the condition holds; returns its last value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(0.02)


def with_protobuf_ids(value):
    """The same document with ids as protobuf's JSON has them."""
    if isinstance(value, list):
        return [with_protobuf_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, member in value.items():
        if name in IDS:
            assert re.fullmatch(r"[0-9a-f]{%d}" % (2 * IDS[name]), member), f"{name}: {member}"
            member = base64.b64encode(bytes.fromhex(member)).decode()
        found[name] = with_protobuf_ids(member)
    return found


class Collector:
    """A collector on a free port. `answers` are the statuses of the next exports; then all are 200."""

    def __init__(self):
        collector = self
        self.spans, self.resources, self.faults = [], [], []
        self.answers, self.requests = [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, fields = collector.answer(self.path, self.headers, body)
                sent = b"{}" if status == 200 else b""
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **fields}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, path, headers, body):
        self.requests.append((time.monotonic(), path, headers, body))
        if self.answers:
            status, fields = self.answers.pop(0)
            if status != 200:
                return status, fields
        try:
            assert path == "/v1/traces", path
            assert headers["Content-Type"] == "application/json", headers["Content-Type"]
            request = json_format.ParseDict(
                with_protobuf_ids(json.loads(body)), ExportTraceServiceRequest())
            for resource in request.resource_spans:
                self.resources.append(attributes(resource.resource))
                for scope in resource.scope_spans:
                    assert scope.scope.name == "larder", scope.scope
                    self.spans += scope.spans
        except Exception as fault:
            self.faults.append(f"{fault!r}: {body[:2000]!r}")
            return 400, {}
        json_format.Parse("{}", ExportTraceServiceResponse())
        return 200, {}

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    def of_path(self, path):
        return [
            span for span in self.spans
            if span.kind == Span.SPAN_KIND_SERVER and attributes(span).get("url.path") == path
        ]

    def below(self, span):
        return [each for each in self.spans if each.parent_span_id == span.span_id]

    def check(self):
        """What holds for every span, whatever it is."""
        assert not self.faults, self.faults
        by_id = {span.span_id: span for span in self.spans}
        assert len(by_id) == len(self.spans), "a span id is used twice"
        now = time.time_ns()
        for span in self.spans:
            assert any(span.trace_id) and any(span.span_id) and span.name, span
            assert span.kind != Span.SPAN_KIND_UNSPECIFIED, span
            start, end = span.start_time_unix_nano, span.end_time_unix_nano
            assert now - 600 * 10**9 < start <= end <= now, (span.name, start, end, now)
            names = [attribute.key for attribute in span.attributes]
            assert len(names) == len(set(names)), names
            if span.parent_span_id and not span.flags & 0x200:
                parent = by_id.get(span.parent_span_id)
                assert parent is not None, f"{span.name} has no parent"
                assert parent.trace_id == span.trace_id, span.name
                assert parent.start_time_unix_nano <= start, span.name


def attributes(holder):
    return {
        attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value"))
        for attribute in holder.attributes
    }


class Process:
    """A process of the binary that announces the port it listens on."""

    def __init__(self, arguments, folder, log, pattern):
        self.log = folder / log
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(
                arguments, cwd=folder, stdout=output, stderr=output, env={"PATH": "/usr/bin:/bin"})
        found = eventually(
            lambda: re.search(pattern, self.said) or self.process.poll() is not None)
        assert isinstance(found, re.Match), f"not listening: {self.said}"
        self.port = int(found.group(1))

    @property
    def said(self):
        return self.log.read_text()

    def end(self):
        self.process.terminate()
        assert self.process.wait(15) == 0, self.said


class Site:
    """The film library, and a Larder before it with a collector."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.count = binary, folder, 0

    @contextlib.contextmanager
    def started(self, sample="1"):
        self.count += 1
        folder = self.folder / f"larder-{self.count}"
        folder.mkdir()
        collector = Collector()
        upstream = Process(
            [self.binary, "demo-upstream", "--listen", "127.0.0.1:0"], folder, "upstream.log",
            r"http://127\.0\.0\.1:(\d+)")
        (folder / "larder.yaml").write_text(
            f"listen: 127.0.0.1:0\ndata: ./data\noperations: {FILMS}/operations\n"
            f"schema: {FILMS}/schema.graphql\n"
            f"upstream: {{url: 'http://127.0.0.1:{upstream.port}/graphql', forward: [authorization]}}\n"
            f"tracing: {{endpoint: '{collector.url}', sample: {sample}, headers: {{X-Key: k1}}}}\n")
        larder = Process(
            [self.binary, "serve"], folder, "larder.log",
            r"larder listening on http://127\.0\.0\.1:(\d+)")
        try:
            yield larder, collector
        finally:
            for process in (larder, upstream):
                if process.process.poll() is None:
                    process.process.terminate()
                    process.process.wait(15)
            collector.server.shutdown()


def ask(larder, method, target, body=None, **fields):
    connection = http.client.HTTPConnection("127.0.0.1", larder.port, timeout=20)
    fields = {name.replace("_", "-"): value for name, value in fields.items()}
    if body is not None:
        fields["Content-Type"] = "application/json"
        body = json.dumps(body)
    try:
        connection.request(method, target, body, fields)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
    finally:
        connection.close()


def one(spans):
    assert len(spans) == 1, [span.name for span in spans]
    return spans[0]


def shows_a_miss_and_a_hit(site):
    with site.started() as (larder, collector):
        for _ in range(2):
            connection = http.client.HTTPConnection("127.0.0.1", larder.port, timeout=20)
            connection.request(
                "GET", "/api/films/f1", headers={"traceparent": SAMPLED, "tracestate": "v=1"})
            assert connection.getresponse().read()
            connection.close()
        larder.end()
        collector.check()
        miss, hit = sorted(
            collector.of_path("/api/films/f1"), key=lambda span: span.start_time_unix_nano)
        for request in (miss, hit):
            assert request.name == "GET /api/films/{id}", request.name
            assert request.trace_id.hex() == TRACE and request.parent_span_id.hex() == PARENT
            assert request.trace_state == "v=1" and request.flags & 0x200
            found = attributes(request)
            assert found["http.response.status_code"] == 200 and found["larder.operation"] == "Film"
            assert request.status.code == Status.STATUS_CODE_UNSET
        assert attributes(miss)["larder.cache.outcome"] == "miss"
        assert attributes(hit)["larder.cache.outcome"] == "hit"
        assert not collector.below(hit)
        flight = one(collector.below(miss))
        assert flight.name == "flight" and flight.kind == Span.SPAN_KIND_INTERNAL
        call, commit = sorted(collector.below(flight), key=lambda span: span.name)
        assert (call.name, call.kind) == ("POST", Span.SPAN_KIND_CLIENT)
        assert (commit.name, commit.kind) == ("commit", Span.SPAN_KIND_INTERNAL)
        assert call.end_time_unix_nano <= commit.start_time_unix_nano
        for resource in collector.resources:
            assert set(resource) == {"service.name", "service.version", "service.instance.id"}
            assert resource["service.name"] == "larder"
        for _, _, headers, _ in collector.requests:
            assert headers["X-Key"] == "k1"


def links_an_attempt_to_its_request(site):
    with site.started() as (larder, collector):
        status, device = ask(larder, "POST", "/v1/devices", {"platform": "web"})
        assert status == 201, device
        status, mutation = ask(
            larder, "POST", "/v1/mutations",
            {"operation": "RateFilm", "mode": "lazy", "variables": {"id": "f1", "stars": 4}},
            Device_Token=device["deviceToken"], Authorization="Bearer user-ada", Idempotency_Key="k1",
            traceparent=SAMPLED)
        assert status == 202, mutation
        status, ended = ask(
            larder, "GET", f"/v1/mutations/{mutation['id']}?wait=20", Device_Token=device["deviceToken"])
        assert ended["state"] == "applied", ended
        larder.end()
        collector.check()
        request = one(collector.of_path("/v1/mutations"))
        attempt = one(collector.named("queue attempt"))
        assert attempt.kind == Span.SPAN_KIND_CONSUMER and not attempt.parent_span_id
        assert attempt.trace_id != request.trace_id
        link = one(attempt.links)
        assert (link.trace_id, link.span_id) == (request.trace_id, request.span_id)
        assert attributes(attempt)["larder.queue.outcome"] == "applied"
        assert {span.name for span in collector.below(attempt)} == {"POST", "commit"}


def samples_by_the_ratio(site):
    with site.started(sample="0.2") as (larder, collector):
        connection = http.client.HTTPConnection("127.0.0.1", larder.port, timeout=20)
        for _ in range(2000):
            connection.request("GET", "/api/films/f1")
            connection.getresponse().read()
        connection.close()
        larder.end()
        collector.check()
        # Six standard deviations around 400.
        count = len(collector.of_path("/api/films/f1"))
        assert 290 < count < 510, count


def sends_again_when_it_is_told_to(site):
    with site.started() as (larder, collector):
        collector.answers = [(503, {"Retry-After": "1"}), (429, {"Retry-After": "1"})]
        assert ask(larder, "GET", "/api/films/f1")[0] == 200
        assert eventually(lambda: collector.of_path("/api/films/f1")), collector.requests
        times = [at for at, *_ in collector.requests]
        bodies = {body for *_, body in collector.requests}
        assert len(times) == 3 and len(bodies) == 1, (times, len(bodies))
        assert times[1] - times[0] >= 0.9 and times[2] - times[1] >= 0.9, times
        larder.end()
        collector.check()


def logs_and_counts_what_is_refused(site):
    with site.started() as (larder, collector):
        collector.answers = [(400, {})]
        assert ask(larder, "GET", "/api/films/f1")[0] == 200
        assert eventually(lambda: "spans were dropped" in larder.said), larder.said
        connection = http.client.HTTPConnection("127.0.0.1", larder.port, timeout=20)
        connection.request("GET", "/metrics")
        metrics = connection.getresponse().read().decode()
        connection.close()
        assert re.search(
            r'larder_trace_spans_dropped_total\{reason="failed"\} [1-9]', metrics), metrics
        assert len(collector.requests) == 1
        larder.end()


if __name__ == "__main__":
    run(
        "tracing", __doc__,
        [
            shows_a_miss_and_a_hit, links_an_attempt_to_its_request, samples_by_the_ratio,
            sends_again_when_it_is_told_to, logs_and_counts_what_is_refused,
        ],
        Site,
    )
