"""A PostgreSQL of the tests, on a port and in a folder of its own, with a synchronous standby if asked for.

PostgreSQL refuses to run as root: started by root it runs as an unprivileged user.
"""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from ports import steady_port

HERE = pathlib.Path(__file__).resolve()
PROGRAMS = HERE.parents[3] / ".build" / "programs"
START_SECONDS_MAX = 90
END_SECONDS_MAX = 20
SQL_SECONDS_MAX = 20
POLL_SECONDS = 0.02
STANDBY = "standby"
CONFIGURATION = """
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = '64MB'
wal_level = replica
max_wal_senders = 8
hot_standby = on
# In the data folder: nothing is left behind if it is ended at once.
dynamic_shared_memory_type = mmap
max_wal_size = '256MB'
log_min_messages = warning
"""


class Missing(Exception):
    """PostgreSQL is not installed."""


class Programs:
    """The programs of the newest version: installed, or unpacked by Scripts/setup."""

    def __init__(self):
        places = [pathlib.Path("/usr/lib/postgresql"), *PROGRAMS.glob("postgresql-*/usr/lib/postgresql")]
        folders = sorted((one for place in places for one in place.glob("*/bin")),
                         key=lambda one: int(one.parent.name), reverse=True)
        self.folders = [one for one in folders if one.parent.name == folders[0].parent.name]
        self.path("initdb")

    def path(self, name):
        found = [folder / name for folder in self.folders if (folder / name).exists()]
        if not found:
            raise Missing(f"{name} of PostgreSQL is not there: Scripts/setup --tests")
        return found[0]


def unprivileged():
    """The arguments of subprocess for a program that must not run as root, and the user's id (or None)."""
    if os.geteuid() != 0:
        return {}, None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}, user.pw_uid
    raise Missing("PostgreSQL cannot run as root, and there is no user postgres or nobody")


class Server:
    """One PostgreSQL process over one folder."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.port = steady_port()
        self.process = None
        self.log = folder.parent / f"{folder.name}.log"
        self.identity, self.user = unprivileged()

    def command(self, *arguments):
        """Runs one of PostgreSQL's programs to its end."""
        done = subprocess.run(
            [self.programs.path(arguments[0]), *arguments[1:]], check=False, **self.identity, cwd=self.folder.parent,
            capture_output=True, text=True, timeout=START_SECONDS_MAX,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        assert done.returncode == 0, f"{arguments[0]}: {done.stdout}{done.stderr}"
        return done.stdout

    def create(self, is_durable):
        self.command("initdb", "--pgdata", str(self.folder), "--username=larder", "--auth=trust", "--no-sync",
                     "--encoding=UTF8", "--locale=C.UTF-8")
        with (self.folder / "postgresql.conf").open("a") as file:
            file.write(CONFIGURATION + ("" if is_durable else "fsync = off\n"))

    def launch(self):
        """Starts the process without waiting for it."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs.path("postgres"), "-D", self.folder, "-p", str(self.port), "-k", self.folder.parent],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, **self.identity,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})

    def start(self):
        self.launch()
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self.answers():
            assert self.process.poll() is None, f"PostgreSQL ended:\n{self.tail()}"
            assert time.monotonic() < deadline, f"PostgreSQL does not answer:\n{self.tail()}"
            time.sleep(POLL_SECONDS)

    def answers(self):
        done = subprocess.run(
            [self.programs.path("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)], timeout=10, check=False)
        return done.returncode == 0

    def stop(self, how=signal.SIGINT):
        """Ends the process: SIGINT is a fast shutdown, SIGQUIT an immediate one, as at a crash."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait(END_SECONDS_MAX)
        self.process = None

    def sql(self, statement, database="larder"):
        """The rows of a statement as lists of texts; null is an empty text. Raises on failure."""
        done = subprocess.run(
            [self.programs.path("psql"), "-XAtq", "-F", "\x1f", "-R", "\x1e", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
             str(self.port), "-U", "larder", "-d", database, "-c", statement],
            capture_output=True, text=True, timeout=SQL_SECONDS_MAX, check=False,
            env={"PATH": "/usr/bin:/bin", "PGCONNECT_TIMEOUT": "5"})
        if done.returncode != 0:
            raise OSError(f"PostgreSQL refuses {statement!r}: {done.stderr.strip()}")
        text = done.stdout.removesuffix("\n")
        return [row.split("\x1f") for row in text.split("\x1e")] if text else []

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""


class PostgreSQL:
    """A primary, and optionally a synchronous streaming standby that can be promoted."""

    def __init__(self, with_standby=False, is_durable=True):
        self.programs = Programs()
        # Of its own: the user that it runs as cannot look into other folders of the tests.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="larder-pg-"))
        self.number = 0
        self.standby = None
        self.is_durable = is_durable
        try:
            self.primary = self._server()
            if self.primary.user is not None:
                os.chown(self.root, self.primary.user, -1)
            self.primary.create(is_durable)
            self.primary.start()
            self.primary.sql("CREATE DATABASE larder", database="postgres")
            if with_standby:
                self.add_standby()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _server(self):
        self.number += 1
        return Server(self.programs, self.root / f"data{self.number}")

    @property
    def port(self):
        return self.primary.port

    def sql(self, statement, database="larder"):
        return self.primary.sql(statement, database)

    def add_standby(self):
        """Clones the primary; from then on no COMMIT is answered before the standby has it on disk."""
        standby = self._server()
        standby.command("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "larder", "-D",
                        str(standby.folder), "-R", "-X", "stream", "--checkpoint=fast", "--no-sync",
                        "-d", f"application_name={STANDBY}")
        # The clone has the primary's setting, with which it would wait for a standby of its own once promoted.
        with (standby.folder / "postgresql.auto.conf").open("a") as file:
            file.write("synchronous_standby_names = ''\n")
        standby.start()
        self.standby = standby
        self.primary.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'", database="postgres")
        self.primary.sql("SELECT pg_reload_conf()", database="postgres")
        deadline = time.monotonic() + START_SECONDS_MAX
        while self.primary.sql("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'") == []:
            assert time.monotonic() < deadline, f"the standby does not follow:\n{standby.tail()}"
            time.sleep(POLL_SECONDS)

    def crash(self):
        """Ends the primary at once, as kill -9 of all its processes does."""
        self.primary.stop(signal.SIGQUIT)

    def restart(self, how=signal.SIGINT):
        self.primary.stop(how)
        self.primary.start()

    def promote(self):
        """The primary is lost; the standby takes its place. Callers must connect to the new port."""
        lost, self.primary, self.standby = self.primary, self.standby, None
        lost.stop(signal.SIGQUIT)
        self.primary.command("pg_ctl", "promote", "-D", str(self.primary.folder), "-w", "-s")
        shutil.rmtree(lost.folder, ignore_errors=True)

    def close(self):
        for server in (self.standby, getattr(self, "primary", None)):
            if server:
                server.stop(signal.SIGQUIT)
        shutil.rmtree(self.root, ignore_errors=True)
