"""The metrics of a live service, read by Prometheus' own programs and by another parser of OpenMetrics; and the
examples of Examples/monitoring.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import contextlib
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as prometheus_families

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLES = ROOT / "Examples/monitoring"
PROGRAMS = ROOT / ".build/programs/prometheus/usr/bin"
sys.path[:0] = [str(HERE.parent)]
from check_run import run  # noqa: E402

START_SECONDS_MAX = 40
END_SECONDS_MAX = 15
ADMIN = "an-admin-token-of-32-characters-or-more"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
# Variables of Grafana, as their panels have them.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}
# Labels that Prometheus adds, or that belong to histograms.
ADDED_LABELS = {"instance", "job", "le"}
KEYWORDS = {
    "sum", "count", "min", "max", "by", "rate", "delta", "increase", "histogram_quantile", "topk", "and", "or",
    "unless", "offset", "predict_linear", "up",
}


class Site:
    """The demo, with requests of every kind behind it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def __enter__(self):
        self.log = (self.folder / "larder.log").open("w+b")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--demo", "--set", "listen=127.0.0.1:0", "--set", f"admin.token={ADMIN}",
             "--set", f"data.path={self.folder}/data"],
            cwd=self.folder, stdout=self.log, stderr=subprocess.STDOUT)
        holds(self._port, "the service's address")
        self.port = self._port()
        self.use()
        return self

    def _port(self):
        assert self.process.poll() is None, (self.folder / "larder.log").read_text()
        found = re.search(r"larder listening on http://127\.0\.0\.1:(\d+)", (self.folder / "larder.log").read_text())
        return found and int(found[1])

    def __exit__(self, *_):
        end(self.process)
        self.log.close()

    def get(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def use(self):
        for path in ["/api/films/f1"] * 3 + ["/api/films/f2", "/v1/operations", "/nowhere", "/healthz"]:
            self.get(path)
        self.get("/api/films/f1", Cache_Control="no-cache")
        self.get("/v1/auth/sign-in", "POST", json.dumps({"email": "a@example.com", "password": "wrong-password"}))
        self.get("/v1/devices", "POST", json.dumps({"platform": "ios"}))

    def metrics(self, **headers):
        response, text = self.get("/metrics", **headers)
        assert response.status == 200, text
        return response, text


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def holds(condition, about):
    deadline = time.monotonic() + START_SECONDS_MAX
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not in time: {about}"
        time.sleep(0.05)
    return found


def promtool(*words, **options):
    result = subprocess.run(
        [str(PROGRAMS / "promtool"), *map(str, words)], capture_output=True, text=True, timeout=120, **options)
    assert result.returncode == 0, f"{words}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def described():
    """The metrics of docs/monitoring.md, each with its labels."""
    text = (ROOT / "docs/monitoring.md").read_text()
    found = re.findall(r"(?m)^\| `((?:larder|process)_[a-z_]+)(?:\{([a-z,]+)\})?` \|", text)
    return {name: set(filter(None, labels.split(","))) for name, labels in found}


def expressions():
    """(where, expression) of all alerts and panels."""
    for group in yaml.safe_load((EXAMPLES / "alerts.yml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in json.loads((EXAMPLES / "grafana-dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression


def the_text_format_is_clean(site):
    for headers in ({}, {"Authorization": f"Bearer {ADMIN}"}):
        response, text = site.metrics(**headers)
        assert response.getheader("content-type").startswith("text/plain; version=0.0.4"), response.getheaders()
        found = promtool("check", "metrics", input=text)
        assert not found.strip(), found


def open_metrics_is_valid(site):
    response, text = site.metrics(Accept=OPENMETRICS, Authorization=f"Bearer {ADMIN}")
    assert response.getheader("content-type").startswith("application/openmetrics-text; version=1.0.0")
    families = list(openmetrics_families(text))
    assert len(families) > 25, [family.name for family in families]
    for family in families:
        assert family.documentation and family.documentation != "Not described.", family.name
        assert family.samples, family.name
    units = {family.name: family.unit for family in families}
    assert units["larder_http_request_duration_seconds"] == "seconds", units
    assert next(family for family in families if family.name == "larder_build").type == "info"


def both_forms_have_the_same_families(site):
    _, text = site.metrics(Authorization=f"Bearer {ADMIN}")
    _, open_text = site.metrics(Accept=OPENMETRICS, Authorization=f"Bearer {ADMIN}")
    plain = {sample.name for family in prometheus_families(text) for sample in family.samples}
    openly = {sample.name for family in openmetrics_families(open_text) for sample in family.samples}
    assert plain == openly, plain ^ openly


def every_family_is_on_the_page(site):
    known = described()
    _, text = site.metrics(Authorization=f"Bearer {ADMIN}")
    names = set(re.findall(r"(?m)^# TYPE (\S+)", text))
    assert names <= set(known), names - set(known)
    for family in prometheus_families(text):
        for sample in family.samples:
            name = re.sub(r"_(bucket|sum|count)$", "", sample.name) if family.type == "histogram" else sample.name
            labels = set(sample.labels) - {"le"}
            assert labels <= known[name], (sample.name, labels)


def requests_are_counted(site):
    def counts():
        _, text = site.metrics()
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in prometheus_families(text) for sample in family.samples
        }

    def are_there():
        found = counts()
        return (
            found.get(("larder_http_request_duration_seconds_count", "/api/films/{id}", "200", "GET")) == 5
            and found.get(("larder_cache_responses_total", "Film", "hit")) == 2
            and found.get(("larder_cache_responses_total", "Film", "miss")) == 2
            and found.get(("larder_cache_responses_total", "Film", "bypass")) == 1
            and found.get(("larder_sign_ins_total", "refused")) == 1
            and found.get(("larder_upstream_request_duration_seconds_count", "Film", "default")) == 3
        )

    holds(are_there, "the counts of the requests")


def the_examples_are_valid(site):
    promtool("check", "config", EXAMPLES / "prometheus.yml")
    promtool("check", "rules", EXAMPLES / "alerts.yml")
    promtool("test", "rules", "alerts-test.yml", cwd=EXAMPLES)
    alerts = {
        rule["alert"]
        for group in yaml.safe_load((EXAMPLES / "alerts.yml").read_text())["groups"] for rule in group["rules"]
    }
    tests = yaml.safe_load((EXAMPLES / "alerts-test.yml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case["exp_alerts"]}
    assert alerts == fired, alerts ^ fired


def the_examples_name_what_exists(site):
    known = described()
    rules = []
    for number, (where, expression) in enumerate(expressions()):
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
        for name, matchers in re.findall(r"\b((?:larder|process)_[a-z_]+)(?:\{([^}]*)\})?", bare):
            base = name if name in known else re.sub(r"_(bucket|sum|count)$", "", name)
            assert base in known, (where, name)
            labels = set(re.findall(r"([a-z_]+)\s*(?:=|!)", matchers))
            assert labels <= known[base] | ADDED_LABELS, (where, name, labels)
        every = set().union(*known.values()) | ADDED_LABELS
        for group in re.findall(r"\bby \(([^)]*)\)", bare):
            assert {label.strip() for label in group.split(",")} <= every, (where, group)
        words = set(re.findall(r"\b[a-z_]+\b", re.sub(r"\{[^}]*\}|\[[^]]*\]|\bby \([^)]*\)", "", bare)))
        rest = {word for word in words if not word.startswith(("larder_", "process_"))} - KEYWORDS
        assert not rest - {"d"}, (where, rest)
        rules.append({"record": f"check:{number}", "expr": expression})
    assert len(rules) > 40, len(rules)
    file = site.folder / "expressions.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    promtool("check", "rules", file)


def prometheus_reads_the_service(site):
    folder = site.folder / "prometheus"
    folder.mkdir()
    shutil.copy(EXAMPLES / "alerts.yml", folder)
    text = (EXAMPLES / "prometheus.yml").read_text()
    assert "127.0.0.1:8080" in text
    text = text.replace("127.0.0.1:8080", f"127.0.0.1:{site.port}").replace("15s", "1s")
    (folder / "prometheus.yml").write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "prometheus.log").open("wb") as log, contextlib.ExitStack() as stack:
        process = subprocess.Popen(
            [PROGRAMS / "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=subprocess.STDOUT)
        stack.callback(end, process)

        def query(expression):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            try:
                connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
                answer = json.loads(connection.getresponse().read())
            except (OSError, ValueError):
                return None
            finally:
                connection.close()
            assert answer["status"] == "success", (expression, answer)
            return answer["data"]["result"]

        holds(lambda: query('up{job="larder"} == 1'), "a scrape")
        holds(lambda: query('larder_cache_responses_total{operation="Film"}'), "the counts of an operation")
        holds(lambda: query("rate(larder_http_request_duration_seconds_count[1m])"), "two scrapes")
        for where, expression in expressions():
            assert query(expression) is not None, (where, expression)
        assert not query('ALERTS{alertstate="firing"}'), query("ALERTS")


if __name__ == "__main__":
    run("monitoring", __doc__, [
        the_text_format_is_clean,
        open_metrics_is_valid,
        both_forms_have_the_same_families,
        every_family_is_on_the_page,
        requests_are_counted,
        the_examples_are_valid,
        the_examples_name_what_exists,
        prometheus_reads_the_service,
    ], Site)
