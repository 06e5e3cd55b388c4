"""Links that lead out of the documentation: what they lead to becomes a page, so that nothing is missing offline.

A page is known by its path in the documentation, and has an origin: the folder of the repository from which its relative links start.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
from making.markdown import block, table

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
PROJECT = {
    "README.md": "project/readme.md", "ARCHITECTURE.md": "project/architecture.md", "CONTRIBUTING.md": "project/contributing.md",
    "CHANGES.md": "project/changes.md", "SECURITY.md": "project/security.md",
}  # fmt: skip
"""File at the root -> its page; those that are there are always pages."""
LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
LONGEST = 100_000
"""Characters of a file that a page shows."""
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


@attrs.frozen
class Text:
    """A page: its Markdown, and the folder of the repository from which its links start."""

    markdown: str
    origin: str


def with_outside(pages: Mapping[str, Text]) -> dict[str, str]:
    """All pages with their links rewritten, and the pages of what they lead to outside the documentation, as Markdown by path."""
    known = dict(pages)
    for file, page in PROJECT.items():
        if (ROOT / file).is_file():
            known[page] = Text((ROOT / file).read_text(encoding="utf-8"), "")
    waiting = list(known)
    done: dict[str, str] = {}
    while waiting:
        path = waiting.pop()
        done[path], found = _rewritten(path, known[path], known)
        for target in found:
            if _page_of(target) not in known:
                known[_page_of(target)] = _shown(target)
                waiting.append(_page_of(target))
    return done


def _rewritten(path: str, text: Text, known: Mapping[str, Text]) -> tuple[str, list[str]]:
    """The Markdown with links that fit the page's place, and the files and folders outside that it leads to."""
    found: list[str] = []

    def link(match: re.Match[str]) -> str:
        words, (target, mark, fragment) = match[1], match[2].partition("#")
        if not target or ":" in target:
            return match[0]
        place = os.path.normpath(os.path.join(text.origin, target))
        if place.startswith(f"{DOCS}/"):
            page = place.removeprefix(f"{DOCS}/")
        elif (ROOT / place).exists():
            page = _page_of(place)
            found.append(place)
        else:
            return match[0]
        return f"{words}({os.path.relpath(page, os.path.dirname(path) or '.')}{mark}{fragment})"

    # Links look so in code too, where they are none; but a label may hold code.
    parts = _CODE.split(text.markdown)
    kept: list[str] = []
    for part in parts:
        kept.append(part if not _CODE.fullmatch(part) else f"\0{len(kept)}\0")
    rewritten = _LINK.sub(link, "".join(kept))
    return re.sub(r"\0(\d+)\0", lambda held: parts[int(held[1])], rewritten), found


def _page_of(place: str) -> str:
    """The page of a file or folder outside the documentation."""
    if place in PROJECT:
        return PROJECT[place]
    return f"source/{place}" if place.endswith(".md") else f"source/{place}.md"


def _shown(place: str) -> Text:
    """The page of a file, or of a folder with the files in it."""
    path = ROOT / place
    if path.is_dir():
        return Text(f"# {place}\n\n{_listed(place)}", place)
    if path.suffix == ".md":
        return Text(path.read_text(encoding="utf-8"), os.path.dirname(place))
    return Text(f"# {place}\n\n{_content(path)}", os.path.dirname(place))


def _content(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace")
    cut = "" if len(text) <= LONGEST else f"\n\nThe first {LONGEST:,} characters of {len(text):,}."
    return block(text[:LONGEST], LANGUAGES.get(path.suffix, "text"), path.name) + cut


def _listed(place: str) -> str:
    rows = [[f"[{name}]({name})"] for name in _names(ROOT / place)]
    return table(["file"], rows)


def _names(folder: Path) -> Iterator[str]:
    for entry in sorted(folder.iterdir()):
        if entry.is_file() and not entry.name.startswith(".") and entry.suffix != ".pyc":
            yield entry.name
