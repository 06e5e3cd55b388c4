"""All pages of the documentation: those that are written, those that are made from the code, and those of files that they lead to."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from functools import cache

from making import api, commands, configurations, releases, rules, schemas
from making.outside import DOCS, ROOT, Text, with_outside

MAKERS = (rules, releases, commands, configurations, schemas, api)
DRAWN = {"project/architecture.md": ("rooms", "cycle")}
"""Page -> the pictures that stand for its diagrams, in order; GitHub draws these itself, the site would have to fetch what draws them."""
ALTERNATIVES = {
    "rooms": "The rooms of the package, from the command line down to Kubernetes objects",
    "cycle": "The way of a pod",
}
_DIAGRAM = re.compile(r"^```mermaid\n.*?^```$", re.MULTILINE | re.DOTALL)


def written() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of the pages that are files."""
    for path in sorted((ROOT / DOCS).rglob("*.md")):
        yield path.relative_to(ROOT / DOCS).as_posix(), path.read_text(encoding="utf-8")


def made() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of the pages that are made from the code."""
    for maker in MAKERS:
        yield from maker.pages()


@cache
def pages() -> dict[str, str]:
    """Every page, as Markdown by path, with links that fit."""
    texts = {
        path: Text(text, os.path.join(DOCS, os.path.dirname(path))) for path, text in (*written(), *made())
    }
    return {path: _drawn(path, text) for path, text in with_outside(texts).items()}


def _drawn(path: str, text: str) -> str:
    """*text* with pictures in the place of diagrams."""
    names = iter(DRAWN.get(path, ()))
    return _DIAGRAM.sub(lambda _: _picture(path, next(names)), text)


def _picture(path: str, name: str) -> str:
    return f"![{ALTERNATIVES[name]}]({os.path.relpath(f'pictures/{name}.svg', os.path.dirname(path) or '.')})"
