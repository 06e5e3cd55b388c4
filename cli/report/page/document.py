"""A whole page: one HTML file with its style and scripts inside, which fetches nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

import attrs

from .about import About
from .markup import Markup, Text, element, html
from .outcome import next_html
from .parts import Section

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; img-src data:"
"""The browser enforces it: of scripts it runs the page's own alone, known by its hash."""
STYLES = ("base", "parts", "tables", "pictures", "tiles", "print")
"""Of every page."""
SCRIPTS = {"table": ("format", "tables"), "map": ("format", "nodetiles", "clustermap"), "aligned": ("format", "aligned")}
"""The kind of part, as its ``data-part`` says -> the scripts that it needs, in order."""
_PART = re.compile(r' data-part="([a-z]+)"')


@attrs.frozen(repr=False)
class Page:
    """What a page says."""

    title: str
    """Of the window: what was run, on what."""
    verdict: Text
    """The outcome in one sentence."""
    about: About
    sections: Sequence[Section]
    lead: Text = ""
    """What belongs right under the verdict: facts, or a second sentence."""
    who: Text = ""
    """Who loses, by name (:func:`~.outcome.who_html`)."""
    steps: Sequence[Markup] = ()
    """What to do next."""


def page_html(page: Page) -> str:
    """*page* as an HTML file."""
    body = "\n".join(_body(page))
    script = f"\n{_scripts(body)}"
    policy = POLICY.format(script=b64encode(sha256(script.encode()).digest()).decode())
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(page.title)}</title>",
        f"<style>\n{style()}</style>",
    ]
    tail = f"<script>{script}</script>"
    return "\n".join(['<!DOCTYPE html>\n<html lang="en"><head>', *head, "</head><body>", body, tail, "</body></html>"]) + "\n"


def style() -> str:
    """The style of all pages."""
    return "".join(asset(f"{name}.css") for name in STYLES)


def asset(name: str) -> str:
    """A file of ``assets``."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _scripts(body: str) -> str:
    """What the parts in *body* need, each once."""
    wanted = dict.fromkeys(script for part in _PART.findall(body) for script in SCRIPTS.get(part, ()))
    return "".join(asset(f"{name}.js") for name in ("page", *wanted))


def _body(page: Page) -> Iterator[str]:
    yield '<a class="skip" href="#main">Skip to the outcome</a>'
    yield f'<header class="top"><span class="title">{escape(page.title)}</span>{_button()}</header>'
    yield '<main id="main" tabindex="-1">'
    yield element("h1", page.verdict, class_="verdict")
    yield page.about.unread_html()
    yield html(page.lead)
    yield html(page.who)
    if page.steps:
        yield next_html(page.steps)
    yield page.about.short_html()
    if len(page.sections) > 1:
        yield _contents(page.sections)
    yield from map(_section, page.sections)
    yield page.about.html()
    yield "</main>"


def _button() -> Markup:
    return Markup('<button type="button" class="theme" id="theme" hidden>Dark</button>')


def _contents(sections: Sequence[Section]) -> Markup:
    items = [element("li", element("a", one.title, href=f"#{one.name}")) for one in sections]
    items.append(element("li", element("a", "About this page", href="#about")))
    return element("nav", element("ul", *items), class_="contents", aria_label="Contents")


def _section(one: Section) -> Markup:
    heading = element("h2", one.title, id=one.name)
    return element("section", heading, one.body, aria_labelledby=one.name)
