"""The smallest client that keeps the contract of docs/clients.md, as a driver of the conformance suite.

  reference.py --url URL --store DIR

Everything the phone keeps is one JSON file, which is replaced as a whole before each reply.
"""

import argparse
import json
import sys

from phone.connection import Connection
from phone.live import Live
from phone.outbox import Outbox
from phone.profiles import Profiles
from phone.replica import Replica
from phone.store import Failure
from phone.transfer import Transfer

LOCAL_VERBS = {"register", "signUp", "signIn", "clock", "storage"}
VERBS = {
    "register", "signUp", "signIn", "signOut", "follow", "unfollow", "sync", "get", "list", "state", "newId",
    "read", "submit", "write", "force", "send", "outbox", "outcomes", "retry", "discard", "upload", "resume",
    "live", "events", "rows", "unlive", "clock", "storage",
}


class Phone(Profiles, Replica, Outbox, Transfer, Live, Connection):
    """One method for each verb."""

    def clock(self, shiftSeconds):
        self.shift = shiftSeconds
        return {}

    def storage(self, full):
        self.store.is_full = full
        return {}


def serve(phone):
    """Carries out the commands of standard input."""
    for line in sys.stdin:
        command = json.loads(line)
        number, verb = command.pop("id"), command.pop("do")
        try:
            if verb not in VERBS:
                raise Failure("unsupported", verb)
            if verb not in LOCAL_VERBS:
                phone.profile
            reply = {"ok": getattr(phone, verb)(**command)}
        except Failure as failure:
            reply = {"error": {"code": failure.code, "message": str(failure)}}
        print(json.dumps({"id": number, **reply}), flush=True)


def main(kind=Phone):
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", required=True)
    arguments, _ = parser.parse_known_args()
    serve(kind(arguments.url, arguments.store))


if __name__ == "__main__":
    main()
