"""Larder's side of a comparison: a process that responds to each input; see Witness.swift."""

import struct
import subprocess


class Witness:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, text):
        self.process.stdin.write(struct.pack(">I", len(text)) + text)
        self.process.stdin.flush()
        head = self.process.stdout.read(4)
        if len(head) < 4:
            raise RuntimeError(f"Larder's side ended on {text!r}")
        return self.process.stdout.read(struct.unpack(">I", head)[0])

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)
