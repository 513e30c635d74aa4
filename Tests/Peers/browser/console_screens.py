"""The console's screens, and what is wrong with one as it is shown."""

from console_site import ADMIN

SCREENS = [
    "overview", "changes", "logs", "operations", "operations/Film", "operations/Films", "docs", "docs/Entities",
    "data", "data/Film", "data/Film/f1", "data/Film/f1/cast", "search?q=the", "sql", "files", "files/pics",
    "devices", "devices?tab=devices", "users", "push", "hooks", "cluster", "settings", "backup", "nothing",
]
WIDTHS = [360, 1440]
# axe-core takes most of the time: it looks at both widths and at both schemes, not at all combinations.
AUDITED = {(1440, False), (360, True)}


def inspect(page, screen, is_audited=True):
    """The faults of the screen that is shown, each as a line; `is_audited` if also what axe-core finds."""
    found = [f"{screen} at {page.width}: wider than the page: {one}" for one in page.overflow()]
    if is_audited:
        found += [f"{screen} at {page.width}: {one}" for one in page.faults()]
    found += [f"{screen}: reported: {one}" for one in page.reported()]
    if page.run("document.querySelector('main h1') === null"):
        found.append(f"{screen}: no heading")
    return found


def nothing_reported(page):
    found = page.reported()
    assert not found, found


def look(console, screens, combinations, token=ADMIN, expected=None):
    """Opens screens at widths, light and dark; `expected` is a part of what browsers report on the way."""
    found = []
    for width, is_dark in combinations:
        with console.page(token, width, is_dark) as page:
            for screen in screens:
                page.visit(f"#/{screen}")
                found += inspect(page, screen, (width, is_dark) in AUDITED)
    found = sorted({one for one in found if not expected or expected not in one})
    assert not found, "\n".join(found)


EVERY = [(width, is_dark) for width in WIDTHS for is_dark in (False, True)]
