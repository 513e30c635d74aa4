"""The console in a tab: at a width, light or dark, with what it reported and what axe-core says of it."""

import base64
import json
import pathlib

from axe_core_python.base import AXE_FILE_PATH
from chromium import Page

# Rules of best practice that are not requirements of WCAG are checked too, but for one: a view that scrolls by
# itself is a region with a name.
AXE_OPTIONS = {"resultTypes": ["violations"], "rules": {"region": {"enabled": True}}}
HEIGHT = 900
# A request that shows that there is no session: its 401 is the answer.
EXPECTED_NOISE = ["/v1/admin/session"]


class ConsolePage(Page):
    def __init__(self, browser, url, width=1440, is_dark=False):
        self.base = url.rstrip("/")
        self.attach(browser)
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Page.enable")
        self.size(width)
        self.scheme(is_dark)
        self.go(f"{self.base}/")
        self.settle()

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def size(self, width, height=HEIGHT):
        self.width = width
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )

    def scheme(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ])

    def settle(self):
        """Waits until nothing loads."""
        self.until(
            "document.readyState === 'complete' && !document.querySelector('[aria-busy=true]') && !document.querySelector('main .skeleton') "
            "&& document.querySelector('main h1, main .notice') !== null",
            about=f"the end of loading of {self.run('location.hash')}",
        )

    def sign_in(self, token):
        """Signs in, unless another tab has."""
        if self.run("!document.getElementById('who').hidden"):
            return
        self.until("document.querySelector('input[type=password]') !== null")
        self.run(f"void (document.querySelector('input[type=password]').value = {json.dumps(token)})")
        self.run("document.querySelector('.sign-in form').requestSubmit()")
        self.until("!document.querySelector('.sign-in') && !document.getElementById('who').hidden")
        self.settle()

    def visit(self, address):
        self.run(f"void (location.hash = {json.dumps(address)})")
        # The screen of the address is begun by the event that follows.
        self.run("new Promise((done) => setTimeout(done))")
        self.settle()

    def text(self):
        return self.run("document.querySelector('main').innerText")

    def press(self, words, within="main"):
        """Presses the button with these words."""
        pressed = self.run(
            f"(() => {{ const all = [...document.querySelectorAll({json.dumps(within)} + ' button')];"
            f"const one = all.find((b) => b.textContent.trim() === {json.dumps(words)} && !b.disabled);"
            "one?.click(); return Boolean(one); })()"
        )
        assert pressed, f"no button “{words}” in {within}"

    def reported(self):
        """Errors that scripts and the browser reported since the last call."""
        self.run("0")
        found = []
        for event in list(self.browser.events):
            if event.get("sessionId") != self.session:
                continue
            self.browser.events.remove(event)
            method, about = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(about["exceptionDetails"])[:600])
            elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
                found.append(json.dumps(about["args"])[:600])
            elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                entry = about["entry"]
                if not any(part in entry.get("url", "") for part in EXPECTED_NOISE):
                    found.append(f"{entry['text']} {entry.get('url', '')}")
        return found

    def overflow(self):
        """The widest elements that reach beyond the page's width; none if the page does not scroll sideways."""
        return self.run(
            "document.scrollingElement.scrollWidth <= innerWidth ? [] : "
            "[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 "
            "&& !e.closest('.scroll, pre')).slice(0, 5).map((e) => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 40)}`)"
            ".concat(`${document.scrollingElement.scrollWidth} of ${innerWidth}`)"
        )

    def faults(self):
        """What axe-core finds, each as a line."""
        if not self.run("typeof globalThis.axe === 'object'"):
            self.call("Runtime.evaluate", expression=pathlib.Path(AXE_FILE_PATH).read_text())
        found = self.run(
            f"axe.run(document, {json.dumps(AXE_OPTIONS)}).then(({{violations}}) => violations.map((v) => "
            "`${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`))"
        )
        return found

    def picture(self, path, height=None):
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        if height:
            self.size(self.width, height)
        shot = self.call("Page.captureScreenshot", format="png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        self.call("Emulation.setScrollbarsHidden", hidden=False)
        if height:
            self.size(self.width)
