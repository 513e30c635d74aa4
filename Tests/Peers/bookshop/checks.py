"""The checks of Larder with the bookshop as upstream, one phase at a time."""

import gzip
from concurrent.futures import ThreadPoolExecutor

from peer_checks import dig, eventually, run

ADA = {"Authorization": "Bearer ada"}
BOB = {"Authorization": "Bearer bob"}
BURST = 16


def answers(peer):
    """Every operation, every shape: Larder's response equals the server's."""
    peer.same_as_server("Books")
    peer.same_as_server("Books", {"first": 3, "format": "HARDCOVER"})
    peer.same_as_server("Books", {"isbns": ["978-4", "978-7", "none"]})
    peer.same_as_server("Books", {"first": 0})
    peer.same_as_server("Book", {"isbn": "978-1"})
    peer.same_as_server("Book", {"isbn": "none"})
    peer.same_as_server("Priced", {"within": {"pages": [103, 110]}})
    peer.same_as_server("Priced", {"within": {"pages": [103, 140], "format": "PAPERBACK"}})
    peer.same_as_server("Items")
    for text in ("lem", "volume 1", "o", "nothing of that kind"):
        peer.same_as_server("Find", {"text": text})
    peer.same_as_server("Window", {"isbn": "978-3"})
    peer.same_as_server("Window", {"isbn": "978-3", "withPrice": False})
    peer.same_as_server("Window", {"isbn": "none", "withPrice": True})
    peer.same_as_server("Weather")
    peer.same_as_server("Me", **ADA)
    dotted = peer.get("/v1/operations/Priced?within.pages=103&within.pages=110")
    whole = peer.post("Priced", {"within": {"pages": [103, 110]}})
    peer.equal("input objects by dotted names", dotted.body, whole.body)
    by_path = peer.get("/api/books/978-1")
    peer.equal("the route", by_path.body, peer.read("Book", {"isbn": "978-1"}).body)


def sent(peer):
    """The server gets only the operation, under its own name."""
    peer.read("Window", {"isbn": "978-5", "withPrice": True}, Cache_Control="no-cache")
    last = peer.seen("Window")[-1]
    peer.equal("the client's variables", last["variables"], {"isbn": "978-5", "withPrice": True})
    for word in ("@route", "@cache", "@sync", "query Books"):
        peer.check(f"no {word} in the sent request", word not in last["query"], last["query"])
    peer.read("Books", {"first": 2}, Cache_Control="no-cache", **ADA)
    peer.equal("public data is fetched without a credential", peer.seen("Books")[-1]["authorization"], None)


def validators(peer):
    target = "/api/books/978-3"
    first = peer.get(target)
    calls = len(peer.seen("Book"))
    tag = first.headers["etag"]
    again = peer.get(target)
    peer.equal("the second is a hit", again.cache.split("=")[0], "hit; ttl")
    peer.equal("with the same tag", again.headers["etag"], tag)
    unchanged = peer.get(target, If_None_Match=f'"other", W/{tag}')
    peer.equal("304", (unchanged.status, unchanged.body), (304, b""))
    peer.equal("304 for HEAD", peer_head(peer, target, tag), 304)

    head, body = peer.curl(target, "--compressed")
    peer.check("gzip for curl --compressed", "content-encoding: gzip" in head.lower(), head)
    peer.equal("gzip's content", body, first.body)
    coded = peer.get(target, Accept_Encoding="gzip")
    peer.equal("gzip by ourselves", gzip.decompress(coded.body), first.body)
    peer.check("gzip has a tag of its own", coded.headers["etag"] != tag)
    coded_tag = coded.headers["etag"]
    peer.equal(
        "304 for gzip",
        peer.get(target, Accept_Encoding="gzip", If_None_Match=coded_tag).status,
        304,
    )
    head, _ = peer.curl(target, "--compressed", "--header", f"If-None-Match: {coded_tag}")
    peer.check("304 for curl", head.startswith("HTTP/1.1 304"), head)
    peer.equal("none of that reached the server", len(peer.seen("Book")), calls)


def peer_head(peer, target, tag):
    head, _ = peer.curl(target, "--head", "--header", f"If-None-Match: {tag}")
    return int(head.split()[1])


def coalescing(peer):
    peer.switch("lag")
    before = len(peer.seen("Find"))
    with ThreadPoolExecutor(BURST) as pool:
        found = list(pool.map(lambda _: peer.read("Find", {"text": "17"}), range(BURST)))
    peer.switch("up")
    peer.equal("a burst is one call", len(peer.seen("Find")) - before, 1)
    peer.equal("one response for all", len({answer.body for answer in found}), 1)


def callers(peer):
    for _ in range(2):
        mine, theirs = peer.read("Me", **ADA), peer.read("Me", **BOB)
        peer.equal("ada", mine.json, {"data": {"me": {"id": "ada", "name": "ada"}}})
        peer.equal("bob", theirs.json, {"data": {"me": {"id": "bob", "name": "bob"}}})
        peer.check("private", mine.headers["cache-control"].startswith("private"))
        stolen = peer.read("Me", If_None_Match=mine.headers["etag"], **BOB)
        peer.equal("another caller's tag has no effect", stolen.status, 200)
        anonymous = peer.read("Me")
        peer.equal("anonymous", dig(anonymous.json, "data"), {"me": None})
        code = dig(anonymous.json, "errors", 0, "extensions", "code")
        peer.equal("the code for anonymous callers", code, "UNAUTHENTICATED")
        peer.check("none of that is stored", "stored" not in anonymous.cache, anonymous.cache)
    peer.check("ada's is from memory", peer.read("Me", **ADA).cache.startswith("hit"))


def partial_answers(peer):
    broken, direct = peer.read("Broken"), peer.direct("Broken")
    peer.equal("partial: status", broken.status, 200)
    peer.equal("partial: data", dig(broken.json, "data"), dig(direct.json, "data"))
    peer.equal("partial: path", dig(broken.json, "errors", 0, "path"), ["broken"])
    peer.check("partial is not fresh", "no-cache" in broken.headers["cache-control"])

    good = peer.read("Weather")
    peer.equal("weather", dig(good.json, "data", "weather"), "fair")
    peer.switch("partial")
    filled = peer.read("Weather", Cache_Control="no-cache")
    peer.switch("up")
    peer.equal("the last good value fills", dig(filled.json, "data"), dig(good.json, "data"))
    peer.equal("and is marked", dig(filled.json, "stale"), [["weather"]])
    peer.equal("with the error", dig(filled.json, "errors", 0, "path"), ["weather"])
    later = peer.read("Weather")
    peer.equal("then complete again", later.json, good.json)


def mutations(peer):
    first_books, page = {"first": 3}, {"isbn": "978-2"}
    for operation, variables in (("Books", first_books), ("Book", page), ("Items", None)):
        peer.read(operation, variables)
    tag = peer.read("Book", page).headers["etag"]
    answer = peer.post("Retitle", {"isbn": "978-2", "title": "Solaris\u2028 \"new\""})
    peer.equal("retitle", answer.status, 200)
    calls = len(peer.seen("Book"))
    after = peer.read("Book", page)
    peer.equal("shows at once", dig(after.json, "data", "book", "title"), "Solaris\u2028 \"new\"")
    peer.equal("without a call", len(peer.seen("Book")), calls)
    peer.check("under another tag", after.headers["etag"] != tag)
    for operation, variables in (("Books", first_books), ("Book", page), ("Items", None)):
        peer.same_as_server(operation, variables)
    wrong = peer.post("Retitle", {"isbn": "none", "title": "x"})
    # Ariadne sends 400 if there is no data; an executed operation has a response nevertheless.
    peer.equal("a mutation that fails upstream", wrong.status, 200)
    peer.equal("with its path", dig(wrong.json, "errors", 0, "path"), ["retitle"])
    peer.equal("bad variables", peer.post("Retitle", {"isbn": 1.5}).status, 400)
    peer.equal("a mutation by GET", peer.read("Retitle", {"isbn": "978-2"}).status, 405)

    peer.read("Book", {"isbn": "978-1"})
    gone = peer.post("Withdraw", {"isbn": "978-1"})
    peer.equal("withdraw", gone.json, {"data": {"withdraw": True}})
    peer.equal("is null at once", dig(peer.read("Book", {"isbn": "978-1"}).json, "data"), {"book": None})
    for operation, variables in (("Books", first_books), ("Items", None), ("Find", {"text": "volume 1"})):
        listed = peer.read(operation, variables)
        peer.check(f"not in {operation}", '"Volume 1"' not in listed.text, listed)
    author = peer.read("Book", {"isbn": "978-3"})
    peer.check("not in its author's list", '"978-1"' not in author.text, author)


def metrics(peer):
    text = peer.get("/metrics").text
    peer.check("metrics", "# TYPE" in text, text[:200])
    peer.equal("ready", dig(peer.get("/readyz").json, "upstream"), "reachable")


def up(peer):
    checked = peer.command("check")
    peer.equal("larder check", checked.returncode, 0)
    peer.check("without faults", "no faults" in checked.stdout, checked.stdout + checked.stderr)
    for group in (
        answers, sent, validators, coalescing, callers, partial_answers, mutations, metrics,
    ):
        group(peer)


def troubled(peer):
    """The server responds uselessly: the last good response, or a specific status."""
    good = peer.get("/api/books/978-5")
    for number, (mode, status, code) in enumerate(
        [("500", 502, None), ("html", 502, "upstream_malformed"), ("slow", 504, "upstream_timeout")]
    ):
        peer.switch(mode)
        stale = peer.get("/api/books/978-5", Cache_Control="no-cache")
        peer.equal(f"{mode}: the last good response", (stale.status, stale.body), (200, good.body))
        peer.check(f"{mode}: marked as stale", stale.cache.endswith("detail=stale-if-error"), stale.cache)
        missing = peer.get(f"/api/books/978-{20 + number}")
        peer.equal(f"{mode}: nothing stored", missing.status, status)
        problem = missing.json
        peer.equal(f"{mode}: problem", missing.headers["content-type"], "application/problem+json")
        peer.equal(f"{mode}: retry", dig(problem, "retry"), "after")
        if code:
            peer.equal(f"{mode}: code", dig(problem, "code"), code)
        peer.switch("up")
        back = eventually(
            lambda: peer.get(f"/api/books/978-{20 + number}"), lambda a: a.status == 200
        )
        peer.equal(f"{mode}: afterwards", back.status, 200)
    peer.switch("slow")
    unknown = peer.post("Retitle", {"isbn": "978-6", "title": "perhaps"})
    peer.switch("up")
    peer.equal("slow: a mutation", (unknown.status, dig(unknown.json, "code")), (504, "outcome_unknown"))
    # The server is still working: the effect shows once it is done.
    settled = eventually(
        lambda: peer.read("Books", {"first": 6}, Cache_Control="no-cache"),
        lambda a: "perhaps" in a.text,
    )
    peer.check("slow: the effect shows", "perhaps" in settled.text, settled)

    for name, headers in (("Me", ADA), ("Items", {}), ("Books", {})):
        peer.read(name, **headers)
        peer.keep(name, peer.read(name, **headers).text)
    peer.keep("tag", peer.get("/api/books/978-5").headers["etag"])


def down(peer):
    """The server is down."""
    kept = peer.kept()
    for name, headers in (("Me", ADA), ("Items", {}), ("Books", {})):
        for directive in ({}, {"Cache_Control": "no-cache"}):
            answer = peer.read(name, **headers, **directive)
            peer.equal(f"{name} {directive}", (answer.status, answer.text), (200, kept[name]))
    same = peer.get("/api/books/978-5", If_None_Match=kept["tag"])
    peer.equal("304 still", same.status, 304)
    missing = peer.get("/api/books/978-33")
    peer.equal("nothing stored", (missing.status, dig(missing.json, "code")), (503, "upstream_unreachable"))
    peer.check("with Retry-After", "retry-after" in missing.headers)
    peer.equal("other callers do not get ada's", peer.read("Me").status, 503)
    mutation = peer.post("Retitle", {"isbn": "978-7", "title": "never"})
    peer.equal("mutations", (mutation.status, dig(mutation.json, "code")), (503, "upstream_unreachable"))
    peer.equal("health", peer.get("/healthz").status, 200)
    ready = peer.get("/readyz")
    peer.equal("readiness", (ready.status, dig(ready.json, "upstream")), (200, "failing"))


def restarted(peer):
    """A new process over the same data, while the server is still down."""
    kept = peer.kept()
    for name, headers in (("Me", ADA), ("Items", {}), ("Books", {})):
        answer = peer.read(name, **headers)
        peer.equal(f"{name} from the store", (answer.status, answer.text), (200, kept[name]))
        peer.check(f"{name} is a hit", answer.cache.startswith("hit"), answer.cache)
    peer.equal("tags last", peer.get("/api/books/978-5", If_None_Match=kept["tag"]).status, 304)
    peer.equal("only the requested fields", peer.get("/api/books/978-33").status, 503)
    peer.equal("bob's own", dig(peer.read("Me", **BOB).json, "data", "me", "name"), "bob")


if __name__ == "__main__":
    run({"up": up, "troubled": troubled, "down": down, "restarted": restarted})
