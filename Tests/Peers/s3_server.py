"""An independent S3 server (moto), as a process of its own."""

import pathlib
import re
import subprocess
import sys
import time

import boto3
from botocore.config import Config

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "secure"))
from service import eventually  # noqa: E402

START_SECONDS_MAX = 60


def settings(url):
    """The settings below `files` that make Larder store its files there."""
    return (
        f"  store: s3\n  endpoint: {url}\n  accessKey: AKIATEST\n  secretKey: secretsecret\n"
    )


class Moto:
    """The service, in memory: its data ends with it."""

    def __init__(self, folder, port=0):
        self.log = folder / f"moto-{time.monotonic_ns()}.log"
        program = pathlib.Path(sys.executable).parent / "moto_server"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
        pattern = re.compile(r"http://127\.0\.0\.1:(\d+)\s")
        found = eventually(lambda: pattern.search(self.log.read_text()), START_SECONDS_MAX)
        assert found, f"moto does not listen: {self.log.read_text()}"
        self.port = int(found.group(1))
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def settings(self):
        return settings(self.url)

    def client(self):
        return boto3.client(
            "s3", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="any",
            aws_secret_access_key="any", config=Config(s3={"addressing_style": "path"}))

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
