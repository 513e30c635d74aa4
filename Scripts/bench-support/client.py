"""The program of a client library, which carries out one command a line."""

import json
import os
import select
import subprocess

from process import BenchError, end_with_parent

REPLY_SECONDS_MAX = 120
END_SECONDS_MAX = 15


class Client:
    """A process with a store in a folder. The commands are those of Clients/JavaScript/bench.mjs."""

    def __init__(self, argv, port, folder):
        os.makedirs(folder)
        self.folder = folder
        self._popen = subprocess.Popen(
            [*argv, f"http://127.0.0.1:{port}", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            preexec_fn=end_with_parent,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._popen.stdin.close()
        try:
            self._popen.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()

    def ask(self, verb, **members):
        """Returns the reply, an object."""
        self._popen.stdin.write(json.dumps({"do": verb, **members}).encode() + b"\n")
        if not select.select([self._popen.stdout], [], [], REPLY_SECONDS_MAX)[0]:
            raise BenchError(f"{verb}: no reply in {REPLY_SECONDS_MAX} s")
        line = self._popen.stdout.readline()
        if not line:
            raise BenchError(f"{verb}: the client's program has ended")
        reply = json.loads(line)
        if "error" in reply:
            raise BenchError(f"{verb}: {reply['error']}")
        return reply
