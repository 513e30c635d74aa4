"""Runs ceph/s3-tests against a running Larder and compares the failures with the expected ones.

  suite.py --binary LARDER --folder FOLDER [--tally FILE] [--all] [--only EXPRESSION]

LARDER_S3_TESTS names a checkout of https://github.com/ceph/s3-tests at the commit below, and
LARDER_S3_TESTS_PYTHON a Python with the packages of its requirements.txt (this one, if unset). If
the first is not set, nothing is run.

`expected.md` beside this file lists every test of the areas that fails, with its reason. A test that
fails and is not listed is a failure here, and so is one that is listed and passes. --all runs the whole
suite and counts, without comparing what is outside the areas.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "buckets"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "secure"))
from running import Larder, settings  # noqa: E402
from service import Service, eventually  # noqa: E402

COMMIT = "8f0ae7b4"
HERE = pathlib.Path(__file__).resolve().parent
FILES = ["s3tests/functional/test_s3.py", "s3tests/functional/test_headers.py"]
SECONDS_MAX = 90
RUN_SECONDS_MAX = 3600

# Features that Larder does not have, by the names of the tests: they are outside the areas.
OUTSIDE = re.compile(
    "acl|lifecycle|versioning|versioned|version_|policy|public_block|block_public|ownership"
    "|object_lock|sse_c|sse_kms|kms|cors|logging|_enc\\b|encryption_sse|website|restore|cloud"
    "|bucket_encryption|sts|iam|usage|torrent|storage_class|append|notification|replication"
    "|legal_hold|retention|put_bucket_quota|account|aws2"
)

SETTINGS = """\
s3: {listen: "127.0.0.1:0"}
"""

CONFIGURATION = """\
[DEFAULT]
host = 127.0.0.1
port = {port}
is_secure = False
ssl_verify = False

[fixtures]
bucket prefix = larder-{{random}}-
iam name prefix = s3-tests-
iam path prefix = /s3-tests/
"""

SECTION = """
[{name}]
display_name = larder
user_id = larder
email = {email}@example.com
api_name = us-east-1
access_key = {id}
secret_key = {secret}
{more}
"""


class Site(Larder):
    def __init__(self, binary, folder):
        Service.__init__(self, binary, folder, settings() + SETTINGS)
        self.service = None

    def root_port(self):
        pattern = re.compile(r"larder serves S3 on http://[^:]+:(\d+)")
        return int(eventually(lambda: pattern.search(self.log.read_text())).group(1))


def configuration(site):
    text = CONFIGURATION.format(port=site.root_port())
    keys = {
        "s3 main": site.key,
        "s3 alt": site.issue(userId="alt"),
        "s3 tenant": site.issue(userId="tenant"),
        "iam": site.issue(userId="iam"),
        "iam root": site.issue(userId="root"),
        "iam alt root": site.issue(userId="altroot"),
    }
    for name, key in keys.items():
        text += SECTION.format(
            name=name, email=name.replace(" ", "-"), id=key["accessKeyId"],
            secret=key["secretAccessKey"], more="tenant = testx" if "tenant" in name else "")
    text += "\n[webidentity]\n"
    for name in ["token", "aud", "sub", "azp", "user_token", "thumbprint", "KC_REALM"]:
        text += f"{name} = x\n"
    return text


def outcomes(report):
    """The outcome of each test, by name."""
    found = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        name = case.get("name")
        if kinds & {"failure", "error"}:
            found[name] = "failed"
        elif found.get(name) != "failed":
            found[name] = "skipped" if "skipped" in kinds else "passed"
    return found


def expected():
    """The names of the listed tests, each in a line `* name: reason`."""
    lines = (HERE / "expected.md").read_text().splitlines()
    return {line[3:].split("`")[0] for line in lines if line.startswith("* `")}


def run(python, checkout, folder, site, only):
    file = folder / "s3tests.conf"
    file.write_text(configuration(site))
    report = folder / "report.xml"
    arguments = [
        python, "-m", "pytest", *FILES, "-q", "-p", "no:cacheprovider", "--tb=short",
        f"--junitxml={report}",
    ]
    if only:
        arguments += ["-k", only]
    environment = {**os.environ, "S3TEST_CONF": str(file), "AWS_EC2_METADATA_DISABLED": "true"}
    with (folder / "pytest.log").open("w") as log:
        subprocess.run(
            arguments, cwd=checkout, env=environment, stdout=log, stderr=log,
            timeout=RUN_SECONDS_MAX, check=False)
    return outcomes(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--tally", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    checkout = os.environ.get("LARDER_S3_TESTS")
    if not checkout:
        print(f"s3-tests: skipped; LARDER_S3_TESTS names no checkout of ceph/s3-tests ({COMMIT})")
        return 0
    python = os.environ.get("LARDER_S3_TESTS_PYTHON", sys.executable)
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = options.folder.resolve()
    with Site(options.binary.resolve(), folder / "service") as site:
        found = run(python, pathlib.Path(checkout).resolve(), folder, site, options.only)
    counts = {kind: sum(1 for each in found.values() if each == kind)
              for kind in ["passed", "failed", "skipped"]}
    print("s3-tests:", ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    inside = {name: kind for name, kind in found.items() if not OUTSIDE.search(name)}
    listed = expected()
    unexpected = sorted(n for n, kind in inside.items() if kind == "failed" and n not in listed)
    cured = sorted(n for n in listed if found.get(n) == "passed")
    for name in unexpected:
        print(f"FAILED s3-tests: {name} fails, and expected.md does not list it")
    for name in cured:
        print(f"FAILED s3-tests: {name} passes, and expected.md lists it")
    if options.all:
        for name in sorted(n for n, kind in found.items() if kind == "failed"):
            print(f"failed {name}")
    wrong = len(unexpected) + len(cured)
    if options.tally:
        with options.tally.open("a") as tally:
            tally.write(f"{len(inside) - wrong} {wrong}\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
