"""Troubles at random for a primary and its standby, under load; what they acknowledged is compared with what is there.

  nemesis.py --binary LARDER --folder FOLDER [--seed N] [--seconds N]

Each failure prints the seed, which repeats the order of the troubles.
"""

import argparse
import http.client
import pathlib
import random
import shutil
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from machines import LEASE_SECONDS, TAKE_OVER_SECONDS_MAX, Site, eventually, rows  # noqa: E402

# A segment is sent each 200 ms; a busy machine is slower.
UNSENT_SECONDS_MAX = 2.5
PAUSE_BETWEEN_WRITES_SECONDS = 0.01


class Load:
    """Registers devices at each machine that takes them, and notes when."""

    def __init__(self, machines):
        self.machines = machines
        self.acknowledged = []
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(machine,), daemon=True) for machine in machines]

    def run(self, machine):
        number = 0
        while not self.is_over.wait(PAUSE_BETWEEN_WRITES_SECONDS):
            number += 1
            sent = time.monotonic()
            try:
                known = machine.register(f"{machine.name} {number}")
            except (OSError, http.client.HTTPException, AssertionError):
                continue
            if known:
                self.acknowledged.append((known, machine, sent, time.monotonic()))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


class Nemesis:
    def __init__(self, seed, machines):
        self.random = random.Random(seed)
        self.machines = machines
        # (time, the machine that failed): what it acknowledged just before can be lost.
        self.failures = []
        # [from, to, machine]: it is certainly the primary.
        self.reigns = []

    @property
    def primary(self):
        return self.reigns[-1][2]

    @property
    def other(self):
        return next(machine for machine in self.machines if machine is not self.primary)

    def note_primary(self, machine):
        machine.until_primary(TAKE_OVER_SECONDS_MAX + 10)
        self.reigns.append([time.monotonic(), float("inf"), machine])

    def note_end(self):
        self.reigns[-1][1] = time.monotonic()

    def step(self):
        trouble = self.random.choice([self.kill, self.stop, self.pause, self.crash, self.lose_standby, self.blink, self.lose_store])
        print(f"  {trouble.__name__} of {self.primary.name}", flush=True)
        trouble()
        time.sleep(self.random.uniform(0.2, 1.5))

    def kill(self):
        """The machine is gone for longer than the lease."""
        former, heir = self.primary, self.other
        heir.until_following()
        self.note_end()
        self.failures.append((time.monotonic(), former))
        former.kill()
        self.note_primary(heir)
        former.launch("--standby").until_following(seconds=60)

    def stop(self):
        former, heir = self.primary, self.other
        heir.until_following()
        self.note_end()
        former.stop()
        self.note_primary(heir)
        former.launch().until_following(seconds=60)

    def pause(self):
        former, heir = self.primary, self.other
        heir.until_following()
        self.note_end()
        self.failures.append((time.monotonic(), former))
        former.pause()
        self.note_primary(heir)
        former.resume()
        former.until_following(seconds=60)

    def crash(self):
        """It is back at once, and goes on with all that it has."""
        former = self.primary
        self.note_end()
        former.kill()
        former.launch()
        self.note_primary(former)

    def blink(self):
        """A pause within the lease."""
        former = self.primary
        former.pause()
        time.sleep(LEASE_SECONDS * self.random.uniform(0.1, 0.6))
        former.resume()

    def lose_store(self):
        """Shorter or longer than the lease; both machines find it again."""
        site = self.primary.site.folder
        (site / "shared").rename(site / "away")
        time.sleep(LEASE_SECONDS * self.random.uniform(0.2, 2))
        (site / "away").rename(site / "shared")
        eventually(lambda: any(machine.is_primary and machine.metric("larder_standby_takes_writes") == 1
                               for machine in self.machines), "writes are taken again", 60)
        ruler = next(machine for machine in self.machines if machine.is_primary)
        if ruler is not self.primary:
            self.failures.append((time.monotonic(), self.primary))
            self.note_end()
            self.note_primary(ruler)

    def lose_standby(self):
        heir = self.other
        heir.kill()
        time.sleep(self.random.uniform(0, 1))
        heir.launch("--standby").until_following(seconds=60)


def verdict(load, nemesis, present):
    """The violations."""
    faults = []
    for known, machine, sent, done in load.acknowledged:
        for since, until, ruler in nemesis.reigns:
            if since <= sent <= until and ruler is not machine:
                faults.append(f"{machine.name} acknowledged {known} while {ruler.name} was the primary")
        if known in present:
            continue
        if not any(failed is machine and -1 <= at - done <= UNSENT_SECONDS_MAX or failed is machine and sent <= at <= done
                   for at, failed in nemesis.failures):
            faults.append(f"{known} of {machine.name} is lost, and no failure explains it")
    return faults


def run(binary, folder, seed, seconds):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with Site(binary, folder) as site:
        first = site.machine("a").launch()
        nemesis = Nemesis(seed, [first, site.machine("b")])
        nemesis.note_primary(first)
        nemesis.machines[1].launch("--standby").until_following(seconds=60)
        began = time.monotonic()
        with Load(nemesis.machines) as load:
            while time.monotonic() - began < seconds:
                nemesis.step()
        primary, standby = nemesis.primary, nemesis.other
        standby.until_following(primary.until_sent(), seconds=60)
        present = set()
        after = ""
        while True:
            page = primary.ask("GET", f"/v1/admin/devices?limit=200{after}", headers=primary.admin).json
            present |= {item["id"] for item in page["items"]}
            if "next" not in page:
                break
            after = f"&after={page['next']}"
        faults = verdict(load, nemesis, present)
        position = primary.until_sent()
        eventually(lambda: standby.readiness["standby"]["position"] >= position, "the standby is at the end")
        primary.kill()
        standby.stop()
        ours, theirs = rows(primary), rows(standby)
        faults += [f"{table} differs" for table in set(ours) | set(theirs) if ours.get(table) != theirs.get(table)]
        lost = [known for known, *_ in load.acknowledged if known not in present]
        print(f"seed {seed}: {len(load.acknowledged)} acknowledged, {len(lost)} lost by {len(nemesis.failures)} failures,"
              f" {len(nemesis.reigns)} times a primary, {len(faults)} violations")
        for fault in faults[:20]:
            print(f"  VIOLATION (seed {seed}): {fault}")
        return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    try:
        found = run(arguments.binary.resolve(), arguments.folder.resolve(), arguments.seed, arguments.seconds)
    except Exception:
        print(f"FAILED with seed {arguments.seed}")
        raise
    sys.exit(bool(found))
