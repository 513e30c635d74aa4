"""Requests that go on while something happens, and when they failed."""

import http.client
import itertools
import threading
import time

from asking import ask, eventually

REQUEST_SECONDS = 6
END_SECONDS_MAX = 15


class Line(threading.Thread):
    """One kind of request, one after the other. `make(number)` returns (port, method, target, body, headers).

    A response can be neither good nor a failure: a stale one in the place of a miss.
    """

    def __init__(self, name, make, is_good=lambda answer: answer.status < 400, pause=0.01):
        super().__init__(name=name, daemon=True)
        self.make, self.is_good, self.pause = make, is_good, pause
        self.over = threading.Event()
        # (begin, end, whether it was good, the response or the fault)
        self.results = []

    def run(self):
        number = 0
        while not self.over.wait(self.pause):
            number += 1
            began = time.monotonic()
            try:
                answer = ask(*self.make(number), REQUEST_SECONDS)
                is_good, told = self.is_good(answer), answer
            except (OSError, http.client.HTTPException) as fault:
                is_good, told = False, repr(fault)
            self.results.append((began, time.monotonic(), is_good, told))

    @property
    def failures(self):
        return [f"{self.name} after {end - begin:.2f} s: {told}" for begin, end, is_good, told in self.results
                if isinstance(told, str) or told.status >= 400]

    def seconds_without(self, since):
        """The longest time from one good response to the next, after a moment."""
        good = [since, *(end for _, end, is_good, _ in self.results if is_good and end > since), self.results[-1][1]]
        return max(later - earlier for earlier, later in itertools.pairwise(good))

    def count_after(self, moment):
        return sum(1 for begin, _, is_good, _ in list(self.results) if is_good and begin > moment)


def is_miss(answer):
    """Whether upstream was asked, and nothing stale came instead."""
    return answer.status == 200 and "fwd" in answer.cache


class Load:
    """Several lines at once."""

    def __init__(self, *lines):
        self.lines = lines

    def __enter__(self):
        for line in self.lines:
            line.start()
        return self

    def __exit__(self, *_):
        for line in self.lines:
            line.over.set()
        for line in self.lines:
            line.join(END_SECONDS_MAX)

    def wait_for(self, count):
        """Waits until each line has so many good responses to requests from now on."""
        began = time.monotonic()
        for line in self.lines:
            eventually(lambda line=line: line.count_after(began) >= count, f"{count} times {line.name}")

    @property
    def failures(self):
        return [text for line in self.lines for text in line.failures]
