"""Sentences for people, wrapped to the terminal's width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator


def wrapped(sentences: Iterable[str], width: int | None, hanging: str = "") -> Iterator[str]:
    """Each of *sentences* on lines of its own, *width* characters at most; empty ones are left out.

    Its further lines begin as far to the right as the first, and with *hanging* there.
    """
    for sentence in filter(None, sentences):
        indent = " " * (len(sentence) - len(sentence.lstrip())) + hanging
        wrapper = textwrap.TextWrapper(width or 0, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        yield from wrapper.wrap(sentence) if width else [sentence]
