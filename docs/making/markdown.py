"""Pieces of Markdown: tables, code blocks, and docstrings as prose."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

_ROLE = re.compile(r":\w+:`~?([^`]+)`")


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line ends in cells are kept from ending them."""
    lines = [
        _row(headers),
        _row(["---"] * len(headers)),
        *(_row([cell(text) for text in row]) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def cell(text: str) -> str:
    """*text* as it can stand in a cell."""
    return re.sub(r"(?<!\\)\|", r"\|", " ".join(text.split("\n")))


def escaped(text: str) -> str:
    """*text* with the characters that mean something in Markdown or HTML taken literally, but for code in backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<>\[\]|])", r"\\\1", part) for part in parts
    )


def code(text: str) -> str:
    """*text* as code in a line."""
    return f"`{text}`" if text else ""


def block(text: str, language: str = "text", title: str = "") -> str:
    """*text* as a code block."""
    head = f'{language} title="{title}"' if title else language
    return f"```{head}\n{text.rstrip()}\n```\n"


def prose(doc: str | None) -> str:
    """A docstring as Markdown: references become code, doubled backticks single ones; what ``Upstream:`` says is left out."""
    text = inspect.cleandoc(doc or "")
    text = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2] if '~' in found[0] else found[1]}`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    paragraphs = [_without_upstream(paragraph) for paragraph in re.split(r"\n\s*\n", text)]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _without_upstream(paragraph: str) -> str:
    return paragraph.partition("Upstream:")[0].rstrip()


def first_sentence(doc: str | None) -> str:
    """The first sentence of a docstring, on one line."""
    text = " ".join(prose(doc).split("\n\n")[0].split())
    found = re.match(r"(.+?[.:!?])(?= [A-Z`]|$)", text)
    return (found[1] if found else text).rstrip(":")


def upstream(doc: str | None) -> str:
    """What a docstring says after ``Upstream:``; empty if it does not."""
    text = " ".join(inspect.cleandoc(doc or "").split())
    return text.partition("Upstream:")[2].strip()
