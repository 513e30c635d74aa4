"""Certificates and client connections for measurements over TLS."""

import os
import ssl
import subprocess

from process import BenchError


class Certificate:
    """Self-signed, with a P-256 key: what both contestants serve with."""

    def __init__(self, folder):
        self.chain = os.path.join(folder, "certificate.pem")
        self.key = os.path.join(folder, "key.pem")
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-subj", "/CN=127.0.0.1", "-days", "2"]
            + ["-keyout", self.key, "-out", self.chain],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            raise BenchError(f"openssl makes no certificate:\n{made.stdout}")


def client_context():
    """The context of a client that does not verify the server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
