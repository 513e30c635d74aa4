"""The checks of Larder with the observatory as upstream, one phase at a time."""

from urllib.parse import quote

from peer_checks import dig, lossless, member, run

FIRST, SECOND = "HD 1/α", "HD 2/α"


def up(peer):
    checked = peer.command("check")
    peer.equal("larder check", checked.returncode, 0)
    for star in (FIRST, SECOND, "HD 3/α", "none", ""):
        peer.same_as_server("Star", {"id": star})
    peer.same_as_server("Stars")
    page = peer.read("Stars", {"first": 3})
    cursor = dig(page.json, "data", "stars", "pageInfo", "endCursor")
    peer.same_as_server("Stars", {"first": 3, "after": cursor})
    peer.same_as_server("Stars", {"first": 40, "after": None})
    peer.same_as_server("Seen", {"window": {"names": ["Star №3", "Star №9"]}})
    peer.same_as_server("Seen", {"window": {}})
    peer.same_as_server("Seen", {"window": {"names": None, "brightest": 1.50}})
    # A variable with a common name: must not be confused with a part of the path.
    peer.same_as_server("Called", {"name": "Star №7"})
    peer.same_as_server("Called")
    for node in (FIRST, "M 42", "none"):
        peer.same_as_server("Any", {"id": node})
    peer.same_as_server("Nights", {"counts": [[1, 2], [], [3]]})
    peer.same_as_server("Nights", {"counts": []})

    by_path = peer.get(f"/api/stars/{quote(FIRST, safe='')}")
    peer.equal("a key with a slash in the path", by_path.body, peer.read("Star", {"id": FIRST}).body)
    star = member(member(lossless(by_path.body), "data"), "star")
    peer.equal("2^63 and one, digit by digit", member(star, "catalogue"), "9223372036854775809")
    peer.equal("a decimal", member(star, "parallax"), "0.10")
    mutations(peer)
    faulty(peer)


def mutations(peer):
    for operation, variables in (("Star", {"id": FIRST}), ("Stars", {"first": 3})):
        peer.read(operation, variables)
    renamed = peer.post("Rename", {"id": SECOND, "name": "Sírius"})
    peer.equal("rename", dig(renamed.json, "data", "rename", "name"), "Sírius")
    calls = len(peer.seen())
    companion = dig(peer.read("Star", {"id": FIRST}).json, "data", "star", "companions", 0)
    peer.equal("shows in every reference", dig(companion, "name"), "Sírius")
    peer.equal("without a call", len(peer.seen()), calls)
    for operation, variables in (("Star", {"id": FIRST}), ("Stars", {"first": 3})):
        peer.same_as_server(operation, variables)

    notes = {"z": [1, {"y": None}], "a": "\u2028", "id": "x", "__typename": "Star"}
    noted = peer.post("Note", {"id": FIRST, "notes": notes})
    peer.equal("JSON in variables", dig(noted.json, "data", "note", "notes"), notes)
    peer.equal("as sent", peer.seen("Note")[-1]["variables"], {"id": FIRST, "notes": notes})
    peer.same_as_server("Star", {"id": FIRST})


def faulty(peer):
    """This server sends failures as 200 with `data: null`."""
    wrong = peer.post("Rename", {"id": "none", "name": "x"})
    peer.equal("a mutation that fails upstream", wrong.status, 200)
    peer.equal("with upstream's message", dig(wrong.json, "errors", 0, "message"), "no such star")
    peer.equal("a list of the wrong depth", peer.post("Nights", {"counts": [["x"]]}).status, 400)


def troubled(peer):
    peer.switch("500")
    good = peer.read("Star", {"id": FIRST})
    stale = peer.read("Star", {"id": FIRST}, Cache_Control="no-cache")
    peer.equal("500: the last good response", (stale.status, stale.body), (200, good.body))
    peer.switch("up")
    peer.keep("star", good.text)


def down(peer):
    answer = peer.read("Star", {"id": FIRST}, Cache_Control="no-cache")
    peer.equal("down: the last good response", (answer.status, answer.text), (200, peer.kept()["star"]))


def restarted(peer):
    """The schema was fetched at the first start and stored: it is not fetched now."""
    answer = peer.read("Star", {"id": FIRST})
    peer.equal("from the store", (answer.status, answer.text), (200, peer.kept()["star"]))


if __name__ == "__main__":
    run({"up": up, "troubled": troubled, "down": down, "restarted": restarted})
