"""`larder init`, `larder schema pull` and `larder check --against` of the real binary, in front of the demo's
film library and of a strawberry server.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

PEERS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PEERS)]

from graphql import get_introspection_query  # noqa: E402

from check_run import run  # noqa: E402
from peer_checks import ask, dig  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
START_SECONDS_MAX = 40
COMMAND_SECONDS_MAX = 60
# What init may take, processes of other tests beside it included.
INIT_SECONDS_MAX = 15
TOKEN = "Bearer a-token-of-the-shop"


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LARDER_")}
    return kept | more


def announced(process, log, pattern):
    """The match of a line that a process writes to its log."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} in {log.read_text()}")


class Site:
    """Both upstreams, and commands of the binary in folders of their own."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.processes = binary, folder, []

    def start(self, name, command, pattern, folder=None, **environment):
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, cwd=folder or self.folder,
                env=clean_environment(**environment))
        self.processes.append(process)
        return process, announced(process, log, pattern)

    def __enter__(self):
        _, port = self.start(
            "shop",
            [sys.executable, "-m", "uvicorn", "app:app", "--host", "127.0.0.1", "--port", "0",
             "--no-access-log"],
            r"running on http://127\.0\.0\.1:(\d+)", PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1")
        self.shop = f"http://127.0.0.1:{port}"
        _, self.films = self.start(
            "films", [self.binary, "demo-upstream", "--listen", "127.0.0.1:0"], r"listening on (\S+)")
        return self

    def __exit__(self, *_):
        for process in self.processes:
            self.end(process)

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def switch(self, mode):
        ask(self.shop, "POST", f"/switch?to={mode}")

    def larder(self, *arguments, folder=None, status=0, **environment):
        done = subprocess.run(
            [self.binary, *arguments], cwd=folder or self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS_MAX,
            env=clean_environment(**environment))
        assert done.returncode == status, f"status {done.returncode} of {arguments}:\n{done.stdout}"
        return done.stdout

    def new(self, name):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def serve(self, folder, **environment):
        """Serves a project on a free port: the process and its address."""
        return self.start(
            f"serve-{folder.name}", [self.binary, "serve", "--set", "listen=127.0.0.1:0"],
            r"larder listening on (\S+)", folder, **environment)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def films_from_nothing(site):
    folder = site.new("films-project")
    began = time.monotonic()
    output = site.larder("init", site.films, folder=folder)
    seconds = time.monotonic() - began
    assert seconds < INIT_SECONDS_MAX, f"{seconds} s"
    for part in [
        "GET  /api/films/{id}  (Film)", "no faults", "Cache-Status: larder; fwd=uri-miss; stored",
        "Cache-Status: larder; hit", "larder serve", "LARDER_ADMIN_TOKEN", "docs/operations.md",
    ]:
        assert part in output, f"no {part} in\n{output}"
    assert "no faults" in site.larder("check", folder=folder)
    # Nothing permanent: no database, no process on the port of the settings.
    assert not (folder / "data").exists(), files(folder)
    process, url = site.serve(folder)
    film = ask(url, "GET", "/api/films/f1")
    assert film.status == 200 and dig(film.json, "data", "film", "id") == "f1", film
    assert ask(url, "GET", "/api/films?limit=2").cache.startswith("fwd=uri-miss")
    site.end(process)


def every_query_of_the_shop(site):
    site.switch("open")
    folder = site.new("shop-project")
    output = site.larder("init", site.shop, folder=folder)
    assert "query everything: it is deprecated: Use products." in output, output
    assert "404" not in output and "502" not in output, output
    settings = (folder / "larder.yaml").read_text()
    assert f"url: {site.shop}" in settings, settings
    process, url = site.serve(folder)

    def data(target):
        answer = ask(url, "GET", target)
        assert answer.status == 200 and "errors" not in answer.json, f"{target}: {answer}"
        return answer.json["data"]

    product = data("/api/products/p%201")["product"]
    assert product["price"] == "4.50" and product["attributes"]["leaves"] == [1, 2.5, None], product
    assert product["maker"]["name"] == "Kyūsu & Co", product
    assert product["reviews"] == [
        {"stars": 5, "text": "good"}, {"stars": 2, "text": None}], product
    assert "priceIn" not in product and "title" not in product, product
    products = data("/api/products?filter.price.gte=1.5&limit=3")["products"]
    assert len(products) == 3 and "reviews" not in products[0], products
    page = data("/api/catalogue?first=2")["catalogue"]
    assert [edge["node"]["id"] for edge in page["edges"]] == ["p 1", "p 2"], page
    assert page["pageInfo"]["hasNextPage"] is True and page["totalCount"] == 30, page
    found = data("/api/find?text=x")["find"]
    assert [one["__typename"] for one in found] == ["Product", "Maker", "Notice"], found
    # Its name is a number, those of the others are texts: they cannot be selected together.
    assert found[2] == {"__typename": "Notice", "message": "x"}, found
    assert data("/api/makers/Ky%C5%ABsu%20%26%20Co")["makerByName"]["id"] == "m1"
    assert data("/api/nodes/m1")["node"]["name"] == "Kyūsu & Co"
    assert data("/api/sold?fromValue=7")["sold"] == 7
    names = {one["name"] for one in ask(url, "GET", "/v1/operations").json["operations"]}
    assert {"Product", "ProductMutation", "AddProduct", "SetPrice"} <= names, names
    added = ask(
        url, "POST", "/api/add-product", {"input": {"name": "Sencha", "price": "3.20"}})
    assert dig(added.json, "data", "addProduct", "faults", 0, "message") == "Sencha", added
    site.end(process)


def nothing_is_overwritten(site):
    site.switch("open")
    folder = site.new("taken")
    (folder / "schema.graphql").write_text("type Query { mine: Int }")
    output = site.larder("init", site.shop, folder=folder, status=73)
    assert "already has schema.graphql" in output and "larder.yaml" not in output, output
    assert files(folder) == ["schema.graphql"], files(folder)
    assert (folder / "schema.graphql").read_text() == "type Query { mine: Int }"
    output = site.larder("init", site.shop, "--output", "a/b", folder=folder)
    assert "Written: a/b/larder.yaml" in output, output


def failures_say_what_to_do(site):
    folder = site.new("failures")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    cases = [
        ("locked", [site.shop], 75, ["status 401", "--header"]),
        ("closed", [site.shop], 75, ["refuses introspection", "--schema FILE"]),
        ("html", [site.shop], 75, ["text/html", "not a GraphQL endpoint"]),
        ("open", [site.shop.replace("http:", "https:")], 75, ["TLS failed", "http://"]),
        ("open", [f"http://127.0.0.1:{free}/graphql"], 75, ["Connection refused", "running"]),
        ("open", ["http://nowhere.invalid/graphql"], 75, ["no address"]),
        ("open", ["shop"], 64, ["must begin with"]),
        ("open", ["http://me:secret@shop/graphql"], 64, ["user name or password"]),
        ("open", [site.shop, "--header", "Authorization"], 64, ["no colon"]),
        ("open", [site.shop, "--header", "Host: shop"], 64, ["Host", "connection"]),
        ("open", [site.shop, "--listen", "here"], 64, ["--listen here", "port"]),
        ("open", [site.shop, "--listen", "unix:/tmp/larder.sock"], 64, ["host:port"]),
        ("open", [site.shop, "--schema", "nothing.graphql"], 66, ["does not exist"]),
        ("open", [site.shop, "--from-manifest", "nothing.json"], 66, ["does not exist"]),
    ]
    for mode, arguments, status, parts in cases:
        site.switch(mode)
        output = site.larder("init", *arguments, folder=folder, status=status)
        for part in parts:
            assert part in output, f"no {part!r} of {arguments} in\n{output}"
        # No values of the language that it is written in.
        assert not re.search(r"\w+\(\w+:|nil\b|Optional", output), output
        assert "secret" not in output, output
        assert files(folder) == [], files(folder)
    site.switch("open")


def credentials_stay_out_of_files(site):
    site.switch("locked")
    folder = site.new("locked-project")
    output = site.larder("init", site.shop, "--header", f"Authorization: {TOKEN}", folder=folder)
    assert "as a signed-in user" in output and "200, Cache-Status" in output, output
    for path in [folder / name for name in files(folder)]:
        assert "a-token-of-the-shop" not in path.read_text(), path
    assert "a-token-of-the-shop" not in output
    assert "LARDER_UPSTREAM_HEADERS" in (folder / "larder.yaml").read_text()
    process, url = site.serve(
        folder, LARDER_UPSTREAM_HEADERS=json.dumps({"Authorization": TOKEN}))
    assert ask(url, "GET", "/api/products").status == 401
    site.end(process)
    site.switch("open")


def a_schema_in_place_of_introspection(site):
    site.switch("open")
    folder = site.new("given")
    site.larder("init", site.shop, "--output", "first", folder=folder)
    site.switch("closed")
    output = site.larder(
        "init", site.shop, "--schema", "first/schema.graphql", "--output", "second", folder=folder)
    assert "Cache-Status: larder; hit" in output, output
    site.switch("open")
    introspected = ask(site.films, "POST", "/graphql", {"query": get_introspection_query()})
    (folder / "schema.json").write_text(introspected.text)
    output = site.larder(
        "init", site.films, "--schema", "schema.json", "--output", "third", folder=folder)
    assert "/api/films/{id}" in output and "Cache-Status: larder; hit" in output, output
    (folder / "wrong.json").write_text('{"data": {"films": []}}')
    refused = site.larder(
        "init", site.films, "--schema", "wrong.json", "--output", "fourth", folder=folder, status=65)
    assert "wrong.json" in refused and not (folder / "fourth").exists(), refused


def manifests_become_files(site):
    site.switch("open")
    folder = site.new("manifests")
    fragment = "fragment Row on Product { id name }"
    products = f"query Products {{ products {{ ...Row }} }} {fragment}"
    product = f"query Product($id: ID!) {{ product(id: $id) {{ ...Row price }} }} {fragment}"
    wrong = "query Wrong { nothing }"
    apollo = {
        "format": "apollo-persisted-query-manifest", "version": 1,
        "operations": [
            {"id": "a1", "name": "Products", "type": "query", "body": products},
            {"id": "a2", "name": "Product", "type": "query", "body": product},
            {"id": "a3", "name": "Wrong", "type": "query", "body": wrong},
        ],
    }
    relay = {"r1": products, "r2": product, "r3": wrong}
    for name, manifest in [("apollo", apollo), ("relay", relay)]:
        (folder / f"{name}.json").write_text(json.dumps(manifest))
        output = site.larder(
            "init", site.shop, "--from-manifest", f"{name}.json", "--output", name, folder=folder)
        assert files(folder / name) == [
            ".gitignore", "larder.yaml", "operations/Product.graphql", "operations/Products.graphql",
            "operations/fragments/Row.graphql", "schema.graphql",
        ], files(folder / name)
        assert "query Wrong: Cannot query field" in output, output
        assert "/v1/operations/Products" in output and "200" in output, output
        site.larder("check", folder=folder / name)


def drift_of_the_schema(site):
    site.switch("open")
    folder = site.new("drift")
    site.larder("init", site.shop, folder=folder)
    assert "is up to date" in site.larder("schema", "pull", "--check", folder=folder)
    path = folder / "schema.graphql"
    present = path.read_text()
    assert "  name: String!\n" in present
    old = present.replace("  totalCount: Int!\n", "").replace("  TEA\n", "  TEA\n  POT\n")
    path.write_text(old)
    output = site.larder("schema", "pull", "--check", folder=folder, status=1)
    for line in ["+ ProductConnection.totalCount: Int!", "- enum value Category.POT", "not up to date"]:
        assert line in output, f"no {line!r} in\n{output}"
    assert path.read_text() == old
    output = site.larder("schema", "pull", folder=folder)
    assert "+ ProductConnection.totalCount: Int!" in output and "schema written to" in output, output
    assert path.read_text() == present
    site.switch("locked")
    output = site.larder("schema", "pull", folder=folder, status=75)
    assert "upstream.headers" in output and site.shop in output, output
    site.switch("open")


def breaking_changes_of_the_interface(site):
    site.switch("open")
    folder = site.new("versions")
    site.larder("init", site.shop, "--output", "old", folder=folder)
    site.larder("init", site.shop, "--output", "new", folder=folder)
    process, url = site.serve(folder / "old")
    (folder / "openapi.json").write_text(ask(url, "GET", "/openapi.json").text)
    (folder / "full.json").write_text(ask(url, "GET", "/openapi.json?full").text)
    site.end(process)
    same = site.larder("check", "--against", "../old", folder=folder / "new")
    assert "0 breaking" in same, same
    same = site.larder("check", "--against", "../openapi.json", folder=folder / "new")
    assert "0 breaking" in same, same
    (folder / "new/operations/Sold.graphql").unlink()
    product = folder / "new/operations/Product.graphql"
    product.write_text(product.read_text().replace("    price\n", "").replace(
        'path: "/products/{id}"', 'path: "/goods/{id}"'))
    products = folder / "new/operations/Products.graphql"
    products.write_text(products.read_text().replace("$limit: Int! = 10", "$limit: Int!"))
    output = site.larder("check", "--against", "../old", folder=folder / "new", status=1)
    for line in [
        "breaking: Sold: the operation is removed",
        "breaking: GET /api/products/{id}: the path is removed; it is now GET /api/goods/{id}",
        "breaking: Product: data.product.price: the field is removed",
        "breaking: Products: $limit: it is now required",
    ]:
        assert line in output, f"no {line!r} in\n{output}"
    output = site.larder("check", "--against", "../openapi.json", folder=folder / "new", status=1)
    for line in [
        "breaking: GET /api/sold: it is removed",
        "breaking: GET /api/products/{id}: it is removed",
        "breaking: GET /api/products: the query parameter limit is now required",
    ]:
        assert line in output, f"no {line!r} in\n{output}"
    assert "GET /v1/operations/" not in output, output
    output = site.larder("check", "--against", "../full.json", folder=folder / "new", status=1)
    assert "breaking: GET /v1/operations/Sold: it is removed" in output, output
    assert "GET /v1/operations/Product: it is removed" not in output, output
    # The types of responses, which the document has too.
    maker = folder / "new/operations/MakerByName.graphql"
    maker.write_text(maker.read_text().replace("    founded\n", ""))
    output = site.larder("check", "--against", "../openapi.json", folder=folder / "new", status=1)
    assert re.search(r"breaking: GET /api/makers/\{name\}: 200\S*\.founded: it is removed", output), output
    wrong = site.larder("check", "--against", "../nothing", folder=folder / "new", status=66)
    assert "does not exist" in wrong, wrong


run(
    "init", __doc__,
    [
        films_from_nothing, every_query_of_the_shop, nothing_is_overwritten, failures_say_what_to_do,
        credentials_stay_out_of_files, a_schema_in_place_of_introspection, manifests_become_files,
        drift_of_the_schema, breaking_changes_of_the_interface,
    ],
    Site)
