"""The site of the documentation is built without a warning, leads nowhere that is not there, and fetches
nothing from elsewhere."""

import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from kubeclassic.cli import COMMANDS
from kubeclassic.cli.schema import names as schema_names
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.predicates import CATALOGUE as PREDICATES
from kubeclassic.priorities import CATALOGUE as PRIORITIES
from tests.conftest import ROOT

FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Element -> the attribute whose address a browser fetches."""
SMALL = 2_000_000
"""Bytes of the largest page."""


class Page(HTMLParser):
    """A page: where it leads, what it fetches, which places in it have a name, and how often it has each
    heading."""

    def __init__(self, text):
        super().__init__()
        self.leads = []
        self.fetches = []
        self.places = set()
        self.tags = Counter()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note what an element leads to."""
        found = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        self.places.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.leads.append(found["href"])
        if tag in FETCHED and FETCHED[tag] in found and found.get("rel") != "canonical":
            self.fetches.append(found[FETCHED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site without its index for searches, built in a process of its own; a warning is an
    error."""
    folder = tmp_path_factory.mktemp("site")
    found_in = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DOCS_SEARCH": "false", "PYTHONPATH": found_in}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Every page by its path."""
    return {path.relative_to(site).as_posix(): Page(path.read_text()) for path in site.rglob("*.html")}


def test_every_rule_command_schema_and_release_has_a_page(pages):
    """The pages that are made from the code are there, and each file of docs has its page."""
    wanted = {f"reference/predicates/{name}.html" for name in PREDICATES} | {
        f"reference/priorities/{name}.html" for name in PRIORITIES
    }
    wanted |= {f"reference/plugins/{name}.html" for name in DEFAULT_REGISTRY if name not in PRIORITIES}
    wanted |= {f"reference/commands/{name}.html" for name in COMMANDS}
    wanted |= {f"reference/schemas/{name}.html" for name in schema_names()} | {
        f"reference/releases/{name}.html" for name in ALL_RELEASES
    }
    wanted |= {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert wanted - pages.keys() == set()


def test_every_link_leads_somewhere(site, pages):
    """Each link within the site leads to a page that is there, and to a place that this page has."""
    lost = []
    for path, page in pages.items():
        for link in page.leads:
            address = urlsplit(link)
            if not address.scheme and path != "404.html":
                target = (
                    os.path.normpath(os.path.join(os.path.dirname(path), unquote(address.path)))
                    if address.path
                    else path
                )
                place = unquote(address.fragment)
                is_there = (site / target).exists() and (
                    not place or target not in pages or place in pages[target].places
                )
                lost += [] if is_there else [(path, link)]
    assert lost == []


def test_nothing_is_fetched_from_elsewhere(site, pages):
    """Scripts, styles, pictures and fonts come from the site itself."""
    assert [
        (path, address)
        for path, page in pages.items()
        for address in page.fetches
        if re.match(r"(https?:)?//", address)
    ] == []
    styles = [path.read_text() for path in site.rglob("*.css")]
    assert [
        found for text in styles for found in re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*\)", text)
    ] == []


def test_every_page_has_one_title(pages):
    """Each page has one heading of the first level."""
    assert {
        path: page.tags["h1"]
        for path, page in pages.items()
        if page.tags["h1"] != 1 and not path.startswith("source/")
    } == {}


def test_no_page_is_large(site):
    """No page is larger than two megabytes."""
    assert [path.name for path in site.rglob("*.html") if path.stat().st_size > SMALL] == []
