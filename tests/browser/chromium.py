"""One Chromium for all tests of a process, and what a page did wrong while it was open."""

import asyncio
import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = ("playwright", "axe_playwright_python")
NOT_OUTGOING = ("file:", "data:", "blob:", "about:")
REQUIRED = os.environ.get("KUBECLASSIC_BROWSER") == "required"
READY = "html[data-ready], html:not(:has(#theme))"
"""A page of ours marks itself when its parts are set up; others have no button for light and dark."""
WINDOW = {"width": 1280, "height": 800}
LONGEST = 180_000
"""Milliseconds that a page may take to show something."""
ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP *.rebound.example 127.0.0.1",
)
"""Root, and most containers, have no sandbox; the pages are our own. Names of rebound.example point to this
machine."""


def executable():
    """The path of a browser; without one, or the packages that drive it, the test is skipped, or fails where
    a browser is required."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is not None and not missing:
        return path
    what = (
        f"no Python package {' or '.join(missing)}"
        if missing
        else f"no browser: none of {', '.join(NAMES)} is in PATH"
    )
    if REQUIRED:
        pytest.fail(f"{what}, and KUBECLASSIC_BROWSER=required")
    pytest.skip(f"{what}; Debian's package chromium has one")


class Chromium:
    """A browser that runs, for tests one after the other."""

    def __init__(self):
        from playwright.sync_api import sync_playwright

        self._driver = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        self.browser = self._driver.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        self.visits = Visits(self.browser)
        self._put_aside()

    @contextmanager
    def in_use(self):
        """The context that opens pages; outside the block other tests of this process may run their own
        loops."""
        asyncio._set_running_loop(self._loop)
        self.visits.begin()
        try:
            yield self.visits
        finally:
            self.visits.end()
            self._put_aside()

    def stop(self):
        """End the browser."""
        with self.in_use():
            self.browser.close()
            self._driver.stop()

    @staticmethod
    def _put_aside():
        # Playwright's loop counts as running as long as the browser lives, and asyncio.run refuses to run
        # beside it.
        asyncio._set_running_loop(None)


class Visits:
    """Opens pages, and remembers what went wrong in them."""

    def __init__(self, browser):
        self._browser = browser
        self._kept = None
        self._own = []
        self.faults = []

    def __call__(self, url, *, within=NOT_OUTGOING, **options):
        """The page at *url* in a context of its own, with those *options*, such as ``viewport``.

        *within*: how the addresses of all its requests begin.
        """
        page = self._watched(within, options)
        self._own.append(page)
        page.goto(url)
        if options.get("java_script_enabled", True):
            page.wait_for_selector(READY, state="attached")
        return page

    def look(self, url):
        """The page at *url* for tests that leave it as it was, which is opened once for all that follow each
        other."""
        if self._kept is None:
            self._kept = self._watched(NOT_OUTGOING, {}), ""
        page, now = self._kept
        page.set_viewport_size(WINDOW)
        page.emulate_media(media="null", color_scheme="light")
        if now != url:
            page.goto(url)
            page.wait_for_selector(READY, state="attached")
            self._kept = page, url
        return page

    def begin(self):
        """A new test: nothing went wrong yet."""
        self.faults.clear()

    def end(self):
        """Close every page but the one that is kept."""
        while self._own:
            self._own.pop().context.close()

    def _watched(self, within, options):
        page = self._browser.new_context(**options).new_page()
        page.set_default_timeout(LONGEST)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("request", lambda request: self._on_request(request, within))
        return page

    def _on_console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.faults.append(f"console {message.type}: {message.text}")

    def _on_request(self, request, within):
        if not request.url.startswith(within):
            self.faults.append(f"request for {request.url[:200]}")
