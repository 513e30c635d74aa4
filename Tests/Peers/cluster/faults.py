"""What a nemesis does to a cluster. Each fault has a beginning and an end; both are chosen by a seed."""

import contextlib
import os
import pathlib
import signal
import subprocess

from postgres import PROGRAMS

DISK_BYTES = 64 << 20
CLOCK_JUMPS = (-3600, -60, -5, 5, 60, 3600)
SLOW_SECONDS = 0.05


class Fault:
    """One trouble. `begin` returns a text that says what was done, or None if it was not possible."""

    def __init__(self, cluster, chance):
        self.cluster, self.chance = cluster, chance
        self.node = None

    def begin(self):
        raise NotImplementedError

    def end(self):
        """Undoes it."""

    def leader(self):
        with contextlib.suppress(OSError):
            node = self.cluster.leader()
            return node if node and node.is_running and not node.is_paused else None
        return None

    def replica(self):
        leader = self.leader()
        able = [node for node in self.cluster.running if node is not leader and not node.is_paused]
        return self.chance.choice(able) if leader and able else None

    def mode(self):
        return self.chance.choice(["cut", "hang"])


class Kill(Fault):
    """kill -9, and a start on the same data at the end."""

    def begin(self):
        if self.node is None or len(self.cluster.running) < 2:
            return None
        self.node.kill()
        return f"kill -9 of {self.node.name}"

    def end(self):
        self.node.launch()


class KillLeader(Kill):
    def begin(self):
        self.node = self.leader()
        return super().begin()


class KillReplica(Kill):
    def begin(self):
        self.node = self.replica()
        return super().begin()


class Drain(Fault):
    """SIGTERM of any node, and a start when it has ended."""

    def begin(self):
        able = [node for node in self.cluster.running if not node.is_paused]
        if len(able) < 2:
            return None
        self.node = self.chance.choice(able)
        self.node.process.send_signal(signal.SIGTERM)
        return f"SIGTERM to {self.node.name}"

    def end(self):
        try:
            self.node.process.wait(30)
        except subprocess.TimeoutExpired:
            self.node.kill()
            raise AssertionError(f"{self.node.name} did not end within 30 s of SIGTERM") from None
        self.node.launch()


class Pause(Fault):
    """SIGSTOP for longer than the lease, then SIGCONT."""

    def begin(self):
        self.node = self.leader() if self.chance.random() < 0.7 else self.replica()
        if self.node is None:
            return None
        self.node.pause()
        return f"SIGSTOP of {self.node.name}"

    def end(self):
        if self.node.is_running:
            self.node.resume()


class CutPair(Fault):
    pair = (None, None)
    way = None

    def pairs(self):
        """The two members, or None."""
        raise NotImplementedError

    def begin(self):
        found = self.pairs()
        if found is None:
            return None
        one, other, both = found
        self.way = self.mode()
        self.ways = [(one, other), (other, one)] if both else [(one, other)]
        for way in self.ways:
            self.cluster.network.set(*way, self.way)
        return f"{one} and {other}: {self.way}"

    def end(self):
        for way in self.ways:
            self.cluster.network.set(*way, "pass")


class CutLeaderFromPostgres(CutPair):
    def pairs(self):
        node = self.leader()
        return node and (node.name, "pg", False)


class CutReplicaFromPostgres(CutPair):
    def pairs(self):
        node = self.replica()
        return node and (node.name, "pg", False)


class CutLeaderFromReplica(CutPair):
    def pairs(self):
        leader, replica = self.leader(), self.replica()
        return leader and replica and (leader.name, replica.name, True)


class Isolate(Fault):
    """One node loses PostgreSQL and all other nodes. Clients still reach it."""

    def begin(self):
        self.node = self.leader() if self.chance.random() < 0.5 else self.replica()
        if self.node is None:
            return None
        mode = self.mode()
        self.set(mode)
        return f"{self.node.name} is isolated: {mode}"

    def set(self, mode):
        others = ["pg", *(node.name for node in self.cluster.nodes if node is not self.node)]
        self.cluster.network.isolate(self.node.name, others, mode)

    def end(self):
        self.set("pass")


class SlowNetwork(Fault):
    def begin(self):
        self.pairs = [(node.name, "pg") for node in self.cluster.nodes]
        for pair in self.pairs:
            self.cluster.network.set(*pair, "slow", SLOW_SECONDS)
        return f"PostgreSQL is {SLOW_SECONDS:g} s away"

    def end(self):
        for pair in self.pairs:
            self.cluster.network.set(*pair, "pass")


class RestartPostgres(Fault):
    def begin(self):
        how = self.chance.choice([signal.SIGINT, signal.SIGQUIT])
        self.cluster.postgres.primary.stop(how)
        return f"PostgreSQL ends by {how.name}"

    def end(self):
        self.cluster.postgres.primary.start()


class PromoteStandby(Fault):
    """The primary is lost, the standby takes its place, and at the end it gets a standby of its own."""

    def begin(self):
        postgres = self.cluster.postgres
        if postgres.standby is None:
            return None
        postgres.promote()
        # Connections to the lost primary are closed; new ones go to the new one.
        return "the standby is promoted"

    def end(self):
        self.cluster.postgres.add_standby()


class UpstreamTrouble(Fault):
    def begin(self):
        mode = self.chance.choice(["down", "slow", "unanswering"])
        self.cluster.upstream.switch(mode)
        return f"upstream is {mode}"

    def end(self):
        self.cluster.upstream.switch("up")


class ClockJump(Fault):
    """The wall clock of one node jumps, and stays so."""

    def begin(self):
        able = [node for node in self.cluster.running if "FAKETIME_TIMESTAMP_FILE" in node.environment]
        if not able:
            return None
        self.node = self.chance.choice(able)
        self.seconds = self.chance.choice(CLOCK_JUMPS)
        set_clock(self.node, self.seconds)
        return f"the clock of {self.node.name} is {self.seconds:+d} s off"

    def end(self):
        set_clock(self.node, 0)


class FullDisk(Fault):
    """The disk of a replica, which is a small file system of its own, is full."""

    def begin(self):
        leader = self.leader()
        able = [node for node in self.cluster.running
                if leader and node is not leader and str(node.folder / "data") in self.cluster.mounts]
        if not able:
            return None
        self.node = able[0]
        with contextlib.suppress(OSError), (self.node.folder / "data" / "ballast").open("wb", buffering=0) as file:
            while file.write(b"\0" * 65536):
                pass
        return f"the disk of {self.node.name} is full"

    def end(self):
        (self.node.folder / "data" / "ballast").unlink(missing_ok=True)


def library_of_clocks():
    """The path of libfaketime's library; None if it is not there."""
    places = [pathlib.Path("/usr/lib"), PROGRAMS / "libfaketime" / "usr" / "lib"]
    found = [one for place in places for one in place.glob("*/faketime/libfaketime.so.1")]
    return found[0] if found else None


def with_movable_clock(node):
    """Lets a node's wall clock be set while it runs. Its monotonic clock stays true. Before its start."""
    library = library_of_clocks()
    if library is None:
        return False
    node.environment.update({
        "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(node.folder / "clock"),
        "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
    # The library adds to the environment of the first program, which moves it; Swift looks for the arguments beside it.
    node.launcher = ["/bin/sh", "-c", 'exec "$0" "$@"']
    set_clock(node, 0)
    return True


def forget_clocks():
    """Removes what libfaketime leaves of processes that were killed."""
    for path in pathlib.Path("/dev/shm").glob("*faketime_s[he]m_*"):
        if not pathlib.Path(f"/proc/{path.name.rpartition('_')[2]}").exists():
            path.unlink(missing_ok=True)


def set_clock(node, seconds):
    # Replaced as a whole: the library reads it at any time.
    path = node.folder / "clock"
    partial = path.with_suffix(".partial")
    partial.write_text(f"{seconds:+d}\n")
    partial.replace(path)


def with_small_disk(cluster, node):
    """Puts a node's data folder on a file system of its own. Needs root. Before its start."""
    if os.geteuid() != 0:
        return False
    folder = node.folder / "data"
    folder.mkdir(mode=0o700)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0700", "larder-checks", folder], check=False,
        capture_output=True)
    if done.returncode != 0:
        return False
    cluster.mounts.append(str(folder))
    return True


# How often each is chosen.
WEIGHTS = {
    KillLeader: 4, KillReplica: 3, Drain: 2, Pause: 4, CutLeaderFromPostgres: 4, CutReplicaFromPostgres: 3,
    CutLeaderFromReplica: 3, Isolate: 3, SlowNetwork: 1, RestartPostgres: 2, PromoteStandby: 2, UpstreamTrouble: 2,
    ClockJump: 2, FullDisk: 2,
}
