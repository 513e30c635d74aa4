"""nginx before the nodes, which gives each request to the next node, whatever connection or caller it comes from."""

import os
import shutil
import subprocess
import time

from ports import steady_port
from postgres import PROGRAMS

START_SECONDS_MAX = 20
END_SECONDS_MAX = 10

CONFIGURATION = """daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log warn;
{user}
events {{ worker_connections 2048; }}
http {{
  access_log off;
  {folders}
  upstream nodes {{
    {way}
    {servers}
  }}
  map $http_upgrade $connection_field {{ default close; websocket upgrade; }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 0;
    merge_slashes off;
    underscores_in_headers on;
    large_client_header_buffers 8 32k;
    location / {{
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_field;
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_connect_timeout 2s;
      proxy_read_timeout 90s;
      # A request that was sent is not sent again, unless it is a read.
      proxy_next_upstream error timeout http_503;
      proxy_next_upstream_tries 3;
    }}
  }}
}}
"""


def program():
    """The path of nginx; None if it is not there."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    unpacked = PROGRAMS / "nginx/usr/sbin/nginx"
    return found or (str(unpacked) if unpacked.exists() else None)


class Front:
    """nginx as a process of its own. `way` is empty (one after the other) or `random;`."""

    def __init__(self, folder, nodes, way=""):
        folder.mkdir(parents=True, exist_ok=True)
        self.port = steady_port()
        places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        text = CONFIGURATION.format(
            folder=folder, port=self.port, way=way, user="user root;" if os.geteuid() == 0 else "",
            servers="\n    ".join(f"server 127.0.0.1:{node.port} max_fails=0;" for node in nodes),
            folders="\n  ".join(f"{place}_temp_path {folder}/{place};" for place in places))
        (folder / "nginx.conf").write_text(text)
        self.log = folder / "nginx.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [program(), "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"], stdout=log,
                stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not (folder / "pid").exists():
            assert self.process.poll() is None, f"nginx ended: {self.log.read_text()}"
            assert time.monotonic() < deadline, "nginx does not start"
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
