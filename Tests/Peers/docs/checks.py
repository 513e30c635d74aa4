"""Runs every shell block of README.md and docs/ against a live service, page by page.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only PAGE]

What a block's fence says: `sh` runs as it stands; `sh serve` starts a service, which runs from then on;
`sh stream` does not end by itself, so it is ended after a while; `sh norun` needs something that is not here,
and is not run, like blocks of other languages. A page without a block that starts the demo finds one
running, with the admin token in $ADMIN. All blocks of a page share one shell and its folder, which holds the
examples as a checkout does; one that fails ends the page. The ports that pages name are replaced by free ones.
"""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check_run import run  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE_SECONDS_MAX = 240
STREAM_SECONDS = 3
ADMIN = "an-admin-token-for-the-pages-of-the-manual"
NAMED_PORTS = {"8080": "the demo's", "8081": "the reader's own service", "4000": "the film library's"}

PROLOGUE = """\
set -eu -o pipefail
started=
stop() { [ -z "$started" ] || { kill $started; wait $started || true; started=; }; }
trap stop EXIT
ready() {
  for _ in $(seq 200); do curl -sf -o /dev/null "http://127.0.0.1:$1/readyz" && return; sleep 0.1; done
  cat serve.log >&2; exit 9
}
"""


def blocks(page):
    """(line, fence's words, text) of each block."""
    words, found = None, []
    for number, line in enumerate(page.read_text().split("\n"), 1):
        fence = re.match(r"^\s*```(.*)$", line)
        if fence and words is None:
            words, start, text = fence[1].split(), number, []
        elif fence:
            found.append((start, words, "\n".join(text)))
            words = None
        elif words is not None:
            text.append(line)
    return found


def free_ports():
    sockets = [socket.socket() for _ in NAMED_PORTS]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = dict(zip(NAMED_PORTS, (str(each.getsockname()[1]) for each in sockets)))
    for each in sockets:
        each.close()
    return ports


def script(page, folder, ports):
    def renumbered(text):
        return re.sub(r"127\.0\.0\.1:(8080|8081|4000)\b", lambda m: f"127.0.0.1:{ports[m[1]]}", text)

    def serve(text):
        lines = text.rstrip().split("\n")
        first = max(index for index, line in enumerate(lines) if "larder serve" in line)
        while first > 0 and lines[first - 1].rstrip().endswith("\\"):
            first -= 1
        is_demo = "--demo" in text
        command = "\n".join(lines[first:]).replace(
            "larder serve --demo",
            f"larder serve --demo --demo-port {ports['4000']} --set data={folder}/data "
            f"--set listen=127.0.0.1:{ports['8080']}")
        return [
            *(["stop"] if is_demo else []), *lines[:first], f"{command} >serve.log 2>&1 &",
            'started="$started $!"', f"ready {ports['8080' if is_demo else '8081']}",
        ]

    for path in folder.glob("Examples/**/larder.yaml"):
        path.write_text(renumbered(path.read_text()))
    parts, wanted = [PROLOGUE], [block for block in blocks(page) if block[1][:1] == ["sh"]]
    if not any("serve" in words and "--demo" in text for _, words, text in wanted):
        parts += serve("LARDER_ADMIN_TOKEN=$ADMIN larder serve --demo")
    for line, words, text in wanted:
        if "norun" in words:
            continue
        text = renumbered(text)
        parts.append(f"echo '##### {page.name}:{line}'")
        if "serve" in words:
            parts += serve(text)
        elif "stream" in words:
            parts.append(
                f"( timeout {STREAM_SECONDS} bash -c {shlex.quote(text)} || [ $? -eq 124 ] )")
        else:
            parts.append(text)
    return "\n".join(parts) + "\n"


def check(page):
    def runs(site):
        folder = site / page.stem
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in ("Examples", "Public"):
            shutil.copytree(ROOT / name, folder / name)
        (folder / "script.sh").write_text(script(page, folder, free_ports()))
        environment = {
            "PATH": f"{site}/bin:{os.environ['PATH']}", "HOME": str(folder), "ADMIN": ADMIN,
            "LANG": "C.UTF-8",
        }
        # Exported, so that what a block sets is seen by those that run in a shell of their own.
        done = subprocess.run(
            ["bash", "-a", "script.sh"], cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PAGE_SECONDS_MAX)
        assert done.returncode == 0, f"status {done.returncode} after:\n{done.stdout[-3000:]}"

    runs.__name__ = page.stem.lower().replace("-", "_")
    return runs


def opening(binary, folder):
    (folder / "bin").mkdir(exist_ok=True)
    link = folder / "bin/larder"
    link.unlink(missing_ok=True)
    link.symlink_to(binary)
    return folder


run("docs", __doc__, [check(page) for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]],
    opening)
