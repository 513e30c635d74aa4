"""S3's region check in front of a service (moto) that serves every bucket in any region."""

import http.client
import http.server
import re
import threading

REGION = "x-amz-bucket-region"
# Hop-by-hop fields of requests and responses.
HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
CODES = {301: "PermanentRedirect", 400: "AuthorizationHeaderMalformed"}


class RegionFront:
    """Passes on requests signed for their bucket's region, and refuses others as S3 does: with 301,
    or with 400 if the fault is the region in the signature."""

    def __init__(self, moto, status):
        self.moto, self.status = moto, status
        # (host, region of the signature, whether it was refused), in their order.
        self.seen = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.front = self
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def region(self, bucket):
        """The bucket's region at the service; None if there is no such bucket."""
        connection = http.client.HTTPConnection("127.0.0.1", self.moto.port, timeout=60)
        try:
            connection.request("HEAD", f"/{bucket}")
            return connection.getresponse().getheader(REGION)
        finally:
            connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        front = self.server.front
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        host = self.headers["Host"].split(":")[0]
        path = self.path
        # A host-style request is passed on in path style, which is equivalent.
        if not host.startswith(("s3.", "127.")) and "." in host:
            path = f"/{host.split('.')[0]}{path}"
        bucket = re.match(r"/([^/?]*)", path).group(1)
        signed = re.search(r"Credential=[^/]+/\d+/([^/]+)/s3/", self.headers["Authorization"])
        wanted = front.region(bucket) if bucket else None
        is_refused = wanted not in (None, signed.group(1))
        front.seen.append((host, signed.group(1), is_refused))
        if is_refused:
            return self.refuse(front.status, wanted)
        connection = http.client.HTTPConnection("127.0.0.1", front.moto.port, timeout=60)
        fields = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        try:
            connection.request(self.command, path, body, fields)
            answer = connection.getresponse()
            self.answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    def refuse(self, status, region):
        document = (
            f"<Error><Code>{CODES[status]}</Code><Message>Not here.</Message>"
            f"<Region>{region}</Region></Error>"
        )
        self.answer(status, [(REGION, region), ("Content-Type", "application/xml")], document.encode())

    def answer(self, status, fields, body):
        self.send_response_only(status)
        for name, value in fields:
            if name.lower() not in HOP or (self.command == "HEAD" and name == "Content-Length"):
                self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass
