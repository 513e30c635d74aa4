"""The driver of a library, as a process that takes one command after the other."""

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading

REPLY_SECONDS = 40


class DriverFault(Exception):
    """The driver does not keep its protocol: no expectation of a scenario is concerned."""


class Died(DriverFault):
    """The driver ended before its reply."""


class Driver:
    """A driver on one store, which survives the process."""

    def __init__(self, command, url, store, log):
        self.command_line = [*shlex.split(command), "--url", url, "--store", str(store)]
        self.log = log
        self.process = None
        self.lock = threading.Lock()
        self.number = 0
        self.kept = {}
        store.mkdir()

    def start(self):
        """Starts the process; the phone's clock and storage are as they were."""
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True, bufsize=1, start_new_session=True)
        self.replies = queue.Queue()
        threading.Thread(target=self._read, args=(self.process, self.replies), daemon=True).start()
        for command in list(self.kept.values()):
            self.call(command)

    @staticmethod
    def _read(process, replies):
        with contextlib.suppress(ValueError, OSError):
            for line in process.stdout:
                replies.put(line)
        replies.put(None)

    def kill(self):
        with self.lock:
            # The scenario may start the next process as soon as this one has ended.
            process = self.process
            if process and process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def restart(self):
        self.kill()
        self.start()

    def call(self, command):
        """The reply to a command, with `ok` or `error`. Throws `Died`."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.number += 1
        try:
            self.process.stdin.write(json.dumps({"id": self.number, **command}) + "\n")
            self.process.stdin.flush()
        except OSError:
            raise Died(f"the driver ended: {self.tail()}") from None
        try:
            line = self.replies.get(timeout=REPLY_SECONDS)
        except queue.Empty:
            raise DriverFault(f"no reply to {command['do']} within {REPLY_SECONDS} s") from None
        if line is None:
            self.process.wait()
            raise Died(f"the driver ended: {self.tail()}")
        reply = json.loads(line)
        if reply.get("id") != self.number or ("ok" in reply) == ("error" in reply):
            raise DriverFault(f"malformed reply to {command['do']} ({self.number}): {line[:300]}")
        if command["do"] in ("clock", "storage") and "ok" in reply:
            self.kept[command["do"]] = command
        return reply

    def tail(self):
        return self.log.read_text()[-2000:]
