"""What the phone keeps: one JSON document, which is replaced as a whole."""

import json
import os
import pathlib


class Failure(Exception):
    """What a command replies with in place of a result."""

    def __init__(self, code, message=""):
        super().__init__(message or code)
        self.code = code


class Store:
    """One JSON document, written as a whole."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "phone.json"
        self.is_full = False
        self.value = {"profiles": [], "active": None, "owed": [], "count": 0}
        if self.path.exists():
            self.value = json.loads(self.path.read_text())

    def save(self):
        if self.is_full:
            self.value = json.loads(self.path.read_text()) if self.path.exists() else self.value
            raise Failure("storage_full")
        draft = self.path.with_suffix(".new")
        with draft.open("w") as file:
            json.dump(self.value, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
