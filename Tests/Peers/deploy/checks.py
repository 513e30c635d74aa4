"""The examples of Examples/deploy, read by the programs that they are for, and what Scripts/package makes.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

The package is made of the binary of the tests; Scripts/package-check tries one in a bare Debian. systemd's and
Docker Compose's programs are taken where the machine has them.
"""

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DEPLOY = ROOT / "Examples/deploy"
PROGRAMS = ROOT / ".build/programs"
sys.path[:0] = [str(HERE.parent)]
from check_run import run  # noqa: E402

# systemd's measure, from 0 (nothing is open) to 100 (everything is).
EXPOSURE_MAX = 25


class Site:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def packaged(self):
        """What Scripts/package makes of the binary, twice; made once."""
        folders = [self.folder / name for name in ("first", "second")]
        for folder in folders:
            if not folder.exists():
                ended(["Scripts/package", "--binary", self.binary, "--output", folder, "--fast"], cwd=ROOT)
        return folders


def ended(command, **options):
    """The output of a command that must end with 0."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, f"{command}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def nginx_reads_its_file(site):
    folder = site.folder / "nginx"
    folder.mkdir()
    ended(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
           "-subj", "/CN=api.example.com", "-keyout", folder / "api.key", "-out", folder / "api.pem"])
    text = (DEPLOY / "nginx/larder.conf").read_text().replace("/etc/ssl/", f"{folder}/")
    (folder / "larder.conf").write_text(text)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  access_log off;\n"
        + "".join(f"  {name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + f"  include {folder}/larder.conf;\n}}\n")
    output = ended([PROGRAMS / "nginx/usr/sbin/nginx", "-t", "-p", folder, "-c", folder / "nginx.conf"])
    assert "test is successful" in output and "[warn]" not in output, output


def caddy_reads_its_files(site):
    for file in (DEPLOY / "caddy/Caddyfile", DEPLOY / "compose/Caddyfile"):
        environment = {"HOME": str(site.folder), "PATH": os.environ["PATH"]}
        output = ended(
            [PROGRAMS / "caddy/usr/bin/caddy", "validate", "--adapter", "caddyfile", "--config", file], env=environment)
        assert "Valid configuration" in output and "not formatted" not in output, output


def kubernetes_knows_the_resources(site):
    tool = pathlib.Path(sys.executable).with_name("kubernetes-validate")
    output = ended([tool, "--strict", DEPLOY / "kubernetes/larder.yaml"])
    resources = list(yaml.safe_load_all((DEPLOY / "kubernetes/larder.yaml").read_text()))
    assert output.count(" passed for resource ") == len(resources) == 2, output
    cluster = DEPLOY / "kubernetes/larder-cluster.yaml"
    assert ended([tool, "--strict", cluster]).count(" passed for resource ") == 4
    wrong = site.folder / "wrong.yaml"
    wrong.write_text((DEPLOY / "kubernetes/larder.yaml").read_text().replace("readinessProbe:", "readynessProbe:"))
    refused = subprocess.run([tool, "--strict", wrong], capture_output=True, text=True)
    assert refused.returncode != 0 and "readynessProbe" in refused.stdout + refused.stderr


def compose_knows_the_files(site):
    files = [DEPLOY / "compose/docker-compose.yml", DEPLOY / "cluster/docker-compose.yml", ROOT / "docker-compose.yml"]
    others = {"caddy", "nginx", "postgres"}
    for file in files:
        services = yaml.safe_load(file.read_text())["services"]
        assert all(service["cap_drop"] == ["ALL"] for name, service in services.items() if name not in others), file
        if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0:
            ended(["docker", "compose", "--file", file, "config", "--quiet"],
                  env={**os.environ, "LARDER_ADMIN_TOKEN": "a" * 40, "LARDER_CLUSTER_SECRET": "a" * 40,
                       "POSTGRES_PASSWORD": "a"})


def systemd_reads_the_unit(site):
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is not installed: the unit is not read")
        return
    unit = site.folder / "larder.service"
    unit.write_text((DEPLOY / "systemd/larder.service").read_text().replace("/usr/local/bin/larder", "/bin/true"))
    output = ended(["systemd-analyze", "verify", "--man=no", unit])
    assert "larder.service" not in output, output
    ended(["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", unit])


def files_name_settings_that_exist(site):
    """Each variable LARDER_… of an example is one that the service reads."""
    known = set(re.findall(r"LARDER_[A-Z_]+", ended([site.binary, "settings", "--reference"])))
    found = {}
    for file in [*DEPLOY.rglob("*"), ROOT / "Dockerfile", ROOT / "docker-compose.yml"]:
        if file.is_file():
            for name in re.findall(r"\bLARDER_[A-Z_]+\b", file.read_text()):
                found.setdefault(name, file)
    assert len(found) >= 4, found
    unknown = {name: str(file) for name, file in found.items() if name not in known}
    assert not unknown, unknown


def packages_are_reproducible(site):
    first, second = site.packaged()
    names = sorted(path.name for path in first.iterdir())
    assert len(names) == 4 and names == sorted(path.name for path in second.iterdir()), names
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    sums = next(first.glob("*.sha256")).read_text().split()
    assert {(name, hashlib.sha256((first / name).read_bytes()).hexdigest()) for name in names if ".sha256" not in name} \
        == set(zip(sums[1::2], sums[::2]))


def package_has_what_debian_expects(site):
    package = next(site.packaged()[0].glob("*.deb"))
    version = ended([site.binary, "--version"]).strip()
    assert ended(["dpkg-deb", "--field", package, "Version"]).strip() == version
    owners = {line.split()[1] for line in ended(["dpkg-deb", "--contents", package]).splitlines()}
    assert owners == {"root/root"}, owners
    folder = site.folder / "package"
    ended(["dpkg-deb", "--raw-extract", package, folder])
    for script in ("postinst", "prerm", "postrm"):
        ended(["sh", "-n", folder / "DEBIAN" / script])
    ended(["md5sum", "--check", "--quiet", "DEBIAN/md5sums"], cwd=folder)
    unit = (folder / "lib/systemd/system/larder.service").read_text()
    assert "ExecStart=/usr/bin/larder serve\n" in unit and "/usr/local" not in unit
    assert (folder / "usr/bin/larder").stat().st_mode & 0o777 == 0o755
    assert ended([folder / "usr/bin/larder", "--version"]).strip() == version
    changes = gzip.decompress((folder / "usr/share/doc/larder/changelog.gz").read_bytes())
    assert changes == (ROOT / "CHANGELOG.md").read_bytes()
    notices = (folder / "usr/share/doc/larder/copyright").read_text()
    packages = (ROOT / "Scripts/versions.txt").read_text().split()[::2]
    missing = [name for name in packages if not re.search(rf"^{re.escape(name)}: LICEN", notices, re.M | re.I)]
    assert not missing, missing


def tarball_has_one_folder(site):
    file = next(site.packaged()[0].glob("*.tar.gz"))
    with tarfile.open(file) as tarball:
        members = {member.name: member for member in tarball.getmembers()}
    assert {name.split("/")[0] for name in members} == {file.name.removesuffix(".tar.gz")}
    top = file.name.removesuffix(".tar.gz")
    for name in ("bin/larder", "LICENSE", "THIRD-PARTY-NOTICES.txt", "deploy/systemd/larder.service",
                 "completions/larder.bash", "completions/larder.zsh", "completions/larder.fish"):
        assert members[f"{top}/{name}"].size > 0, name
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}


def materials_are_valid_and_complete(site):
    text = next(site.packaged()[0].glob("*.cdx.json")).read_text()
    fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    assert fault is None, fault
    components = {component["name"].lower(): component["version"] for component in json.loads(text)["components"]}
    words = (ROOT / "Scripts/versions.txt").read_text().split()
    for name, version in zip(words[::2], words[1::2]):
        assert components[name] == version, name
    # The package only recommends libpq5, which a cluster alone loads.
    needed = re.search(r'RUNTIME_PACKAGES="(.*)"', (ROOT / "Dockerfile").read_text())[1].split()
    assert "libpq5" in needed
    for name in set(needed) - {"libpq5"}:
        assert components[name], name


run(
    "deploy", __doc__,
    [
        nginx_reads_its_file, caddy_reads_its_files, kubernetes_knows_the_resources, compose_knows_the_files,
        systemd_reads_the_unit, files_name_settings_that_exist, packages_are_reproducible,
        package_has_what_debian_expects, tarball_has_one_folder, materials_are_valid_and_complete,
    ],
    Site)
