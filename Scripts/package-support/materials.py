#!/usr/bin/env python3
"""Prints a bill of materials of a binary (CycloneDX 1.5, https://cyclonedx.org/docs/1.5/json/): the Swift
packages and the toolchain in it, and the Debian packages whose libraries it loads."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]


def swift_packages():
    resolved = ROOT / "Package.resolved"
    if not resolved.exists():
        sys.exit("materials: there is no Package.resolved; run: swift package resolve")
    for pin in json.loads(resolved.read_text())["pins"]:
        location = re.sub(r"\.git$", "", pin["location"])
        path = location.split("://", 1)[1]
        version = pin["state"]["version"]
        yield {
            "type": "library", "bom-ref": f"pkg:swift/{path}@{version}", "name": path.split("/")[-1],
            "group": "/".join(path.split("/")[:-1]), "version": version,
            "purl": f"pkg:swift/{path}@{version}",
            "externalReferences": [{"type": "vcs", "url": location}],
        }


def toolchain():
    text = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"Swift version (\S+)", text)[1]
    return {
        "type": "framework", "bom-ref": f"swift@{version}", "name": "swift", "version": version,
        "description": "The standard library, Dispatch and Foundation inside the binary.",
    }


def debian_packages(names):
    release = re.search(r"^VERSION_CODENAME=(\S+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    for name in names:
        query = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Version} ${Architecture}", name], capture_output=True, text=True)
        if query.returncode:
            sys.exit(f"materials: {name} is not installed here, so its version is not known; run: apt-get install {name}")
        version, architecture = query.stdout.split()
        purl = f"pkg:deb/debian/{name}@{version.replace(':', '%3A').replace('+', '%2B')}?arch={architecture}"
        if release:
            purl += f"&distro={release[1]}"
        yield {
            "type": "library", "bom-ref": f"deb:{name}", "name": name, "version": version, "purl": purl, "scope": "required",
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--depends", required=True, help="the names of Debian packages")
    options = parser.parse_args()
    digest = hashlib.sha256(options.binary.read_bytes()).hexdigest()
    components = [*swift_packages(), toolchain(), *debian_packages(["libc6", *options.depends.split()])]
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    own = f"pkg:generic/larder@{options.version}"
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": own, "name": "larder", "version": options.version, "purl": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": sorted(components, key=lambda one: one["bom-ref"]),
        "dependencies": [{"ref": own, "dependsOn": sorted(one["bom-ref"] for one in components)}],
    }, indent=2))


main()
