"""The order of the pages. What is not named here comes after its neighbours, so that a new page needs no word in any list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

HOME = "index.md"
FIRST: Mapping[str, Sequence[str]] = {
    "Start": ("start.md", "concepts.md", "guides/verdict.md", "limits.md", "glossary.md"),
    "Questions": (
        "guides/simulate.md", "guides/explain.md", "guides/what-if.md", "guides/capacity.md", "guides/add-node.md", "guides/drain.md",
        "guides/upgrade.md", "guides/compare.md", "guides/sweep.md", "guides/replay.md", "guides/pages.md", "lab.md",
        "guides/edits.md", "guides/traces.md", "guides/conform.md",
    ),
    "Live": ("live/beside.md", "live/live.md", "live/serve.md", "live/extenders.md"),
    "Python": ("python/first.md", "python/python.md", "python/rules.md"),
    "Speed": ("speed/performance.md", "speed/growth.md"),
    "Project": ("project/architecture.md", "project/contributing.md", "project/changes.md"),
}  # fmt: skip
"""Section -> its pages that come first, in order."""
FOLDERS = {"guides": "Questions", "live": "Live", "python": "Python", "speed": "Speed", "project": "Project"}
"""Folder -> the section of its other pages; those of no folder are Questions, those of another folder have a section of their own."""
REFERENCE = {
    "commands": "Commands", "configuration": "Configuration", "predicates": "Predicates", "priorities": "Priorities",
    "plugins": "Plugins", "releases": "Releases", "schemas": "JSON schemas", "python": "Python API",
}  # fmt: skip
"""Folder in ``reference`` -> its heading."""
HIDDEN = ("source/", "project/readme.md")
"""Pages that others lead to, and no list names."""


def navigation(pages: Collection[str]) -> list[Any]:
    """The navigation of *pages*, as mkdocs takes it."""
    named = {page for section in FIRST.values() for page in section}
    sections: dict[str, list[Any]] = {
        title: [page for page in section if page in pages] for title, section in FIRST.items()
    }
    for page in sorted(pages):
        if page not in named and page != HOME and not page.startswith((*HIDDEN, "reference/")):
            sections.setdefault(_section(page), []).append(page)
    folders = [{title: _folder(f"reference/{folder}/", pages)} for folder, title in REFERENCE.items()]
    sections["Reference"] = ["reference/index.md", *folders]
    order = [
        *list(FIRST)[:4],
        "Reference",
        *list(FIRST)[4:],
        *(title for title in sections if title not in (*FIRST, "Reference")),
    ]
    return [HOME, *({title: sections[title]} for title in order if sections[title])]


def _section(page: str) -> str:
    folder = page.partition("/")[0] if "/" in page else "guides"
    return FOLDERS.get(folder, folder.capitalize())


def _folder(folder: str, pages: Collection[str]) -> list[str]:
    found = sorted(page for page in pages if page.startswith(folder))
    return sorted(found, key=lambda page: not page.endswith("/index.md"))
