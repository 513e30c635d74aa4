"""PgBouncer before a PostgreSQL, in transaction mode, as a process of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from ports import steady_port
from postgres import PROGRAMS, unprivileged

START_SECONDS_MAX = 20


def program():
    """The path of pgbouncer if it is there and runs; else None."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    path = found or PROGRAMS / "pgbouncer/usr/sbin/pgbouncer"
    if not Path(path).exists():
        return None
    done = subprocess.run([path, "--version"], capture_output=True, check=False)
    return path if done.returncode == 0 else None


class Pooler:
    def __init__(self, postgres, mode="transaction"):
        identity, user = unprivileged()
        self.port = steady_port()
        self.folder = Path(tempfile.mkdtemp(prefix="larder-pooler-"))
        (self.folder / "users.txt").write_text('"larder" ""\n')
        (self.folder / "pgbouncer.ini").write_text(
            f"[databases]\nlarder = host=127.0.0.1 port={postgres.port} dbname=larder user=larder\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = any\n"
            f"auth_file = {self.folder}/users.txt\npool_mode = {mode}\ndefault_pool_size = 4\n"
            "ignore_startup_parameters = extra_float_digits,options\n")
        (self.folder / "log").touch()
        if user is not None:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, user, -1)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [program(), self.folder / "pgbouncer.ini"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, **identity)

    def __enter__(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline, "pgbouncer does not listen"
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
