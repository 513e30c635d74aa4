"""Chromium without a window, driven over its DevTools protocol."""

import collections
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import websockets.exceptions
import websockets.sync.client

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
START_SECONDS_MAX = 40
CALL_SECONDS_MAX = 40
END_SECONDS_MAX = 15
EVENTS_MAX = 10_000


def program():
    """The path of Chromium; None if it is not installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    def __init__(self, folder):
        profile = folder / "profile"
        shutil.rmtree(profile, ignore_errors=True)
        profile.mkdir(parents=True)
        environment = os.environ | {"HOME": str(profile)}
        with open(folder / "chromium.log", "wb") as log:
            self.process = subprocess.Popen(
                [
                    program(), "--headless", "--no-sandbox", "--disable-gpu",
                    "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0",
                    f"--user-data-dir={profile}", "about:blank",
                ],
                stdout=log, stderr=log, env=environment, start_new_session=True,
            )
        self._last = 0
        # The events of sessions that ask for them, the latest.
        self.events = collections.deque(maxlen=EVENTS_MAX)
        try:
            port, path = self._announced(profile / "DevToolsActivePort", folder / "chromium.log")
            self.socket = websockets.sync.client.connect(
                f"ws://127.0.0.1:{port}{path}", max_size=None, compression=None
            )
        except BaseException:
            self._kill()
            raise

    def _announced(self, file, log):
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            assert self.process.poll() is None, log.read_text()[-3000:]
            lines = file.read_text().split("\n") if file.exists() else []
            if len(lines) == 2:
                return lines
            assert time.monotonic() < deadline, "Chromium announces no port"
            time.sleep(0.02)

    def call(self, method, session=None, **parameters):
        """The result of a command. Events that come before it are kept in `events`."""
        self._last += 1
        command = {"id": self._last, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        self.socket.send(json.dumps(command))
        deadline = time.monotonic() + CALL_SECONDS_MAX
        while True:
            message = json.loads(self.socket.recv(timeout=deadline - time.monotonic()))
            if "method" in message:
                self.events.append(message)
            if message.get("id") == self._last:
                assert "error" not in message, (method, message["error"])
                return message["result"]

    def page(self, url):
        return Page(self, url)

    def close(self):
        # The program can be a script: Chromium is then its child, in the same group.
        with contextlib.suppress(
            OSError, subprocess.TimeoutExpired, websockets.exceptions.WebSocketException
        ):
            self.call("Browser.close")
            self.process.wait(END_SECONDS_MAX)
        self.socket.close()
        self._kill()

    def _kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Page:
    """A page in a tab of its own."""

    def __init__(self, browser, url):
        self.attach(browser)
        self.go(url)

    def attach(self, browser):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]

    def go(self, url):
        failure = self.browser.call("Page.navigate", self.session, url=url).get("errorText")
        assert not failure, (url, failure)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of a JavaScript expression; a promise's once it is kept."""
        result = self.browser.call(
            "Runtime.evaluate", self.session, expression=script, awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in result, (script, result["exceptionDetails"])
        return result["result"].get("value")

    def until(self, script, seconds=CALL_SECONDS_MAX, about=""):
        """Waits until an expression is true; returns its value."""
        deadline = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < deadline, f"{about or script}: not within {seconds} s"
            time.sleep(0.02)
        return value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Target.closeTarget", targetId=self.target)


class Pages:
    """A web server of one page, an origin of its own, with the scripts of `page.js`."""

    SCRIPT = pathlib.Path(__file__).resolve().parent / "page.js"

    def __init__(self):
        body = b"<!DOCTYPE html><title>A page</title><script>" + self.SCRIPT.read_bytes() + b"</script>"

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
