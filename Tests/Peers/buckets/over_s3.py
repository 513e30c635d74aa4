"""The checks of buckets again, with Larder's files in an independent S3 service (moto).

  over_s3.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import away  # noqa: E402
import boto  # noqa: E402
import checks  # noqa: E402
import rude  # noqa: E402
from check_run import run  # noqa: E402
from running import Larder  # noqa: E402
from s3_server import Moto  # noqa: E402

SKIPPED = {
    boto.enforces_quotas: "usage in the service is not counted: settings with quotas are refused",
    boto.lets_one_concurrent_writer_win: "moto checks a condition and writes in two steps",
    boto.accepts_the_longest_documents: "it does not test the store, and takes moto long",
    rude.does_not_buffer_chunks: "the checks of files pass as much on to a service",
}


def stores_everything_in_the_service(larder):
    larder.s3().put_object(Bucket="shown", Key="here", Body=b"content")
    found = larder.service.client().get_object(Bucket="shown", Key="here")
    assert found["Body"].read() == b"content"
    files = [path for path in (larder.folder / "data" / "files").rglob("*") if path.is_file()]
    assert not files, files


CHECKS = [check for check in checks.CHECKS if check not in SKIPPED] + [
    stores_everything_in_the_service, away.reports_an_outage_of_the_service,
    away.reports_a_full_service,
]


@contextlib.contextmanager
def opening(binary, folder):
    for check, reason in SKIPPED.items():
        print(f"{check.__name__}: skipped, {reason}")
    with Moto(folder) as service, Larder(binary, folder / "service", service) as larder:
        yield larder


if __name__ == "__main__":
    run("buckets over s3", __doc__, CHECKS, opening)
