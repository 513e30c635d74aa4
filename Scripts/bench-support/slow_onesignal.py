"""slow_onesignal.py PORT SECONDS: OneSignal's API for notifications, with each response delayed by SECONDS.

It accepts every key and knows every user; GET /seen returns its counts.
"""

import http.server
import json
import sys
import threading
import time
import uuid


class Seen:
    """The counts of requests over all connections."""

    def __init__(self):
        self._lock = threading.Lock()
        self._under_way = 0
        self.figures = {"requests": 0, "keys": 0, "ids": 0, "largest": 0, "at_once": 0}
        self._keys = set()

    def begin(self, key, count):
        with self._lock:
            self._under_way += 1
            self._keys.add(key)
            figures = self.figures
            figures["requests"] += 1
            figures["keys"] = len(self._keys)
            figures["ids"] += count
            figures["largest"] = max(figures["largest"], count)
            figures["at_once"] = max(figures["at_once"], self._under_way)

    def end(self):
        with self._lock:
            self._under_way -= 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._answer(self.server.seen.figures)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ids = body["include_aliases"]["external_id"]
        self.server.seen.begin(body["idempotency_key"], len(ids))
        time.sleep(self.server.delay)
        self.server.seen.end()
        self._answer({"id": str(uuid.uuid4()), "external_id": None})

    def _answer(self, value):
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.delay = float(sys.argv[2])
    server.seen = Seen()
    server.serve_forever()


if __name__ == "__main__":
    main()
