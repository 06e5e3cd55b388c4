"""Texts of more than one line in YAML, in the forms that tools write: after ``|``, or folded, in single quotes or in none."""

from __future__ import annotations

from .yamlevents import PlainScalars
from .yamllines import PLAIN_GOES_ON, SINGLE, is_plain

_CHOMPED = {"|": "\n", "|-": ""}
"""What ends a text after these."""


def text_below(beside: str, below: list[str], plain: PlainScalars) -> list[object] | None:
    """The value, in a list, that begins *beside* a key or dash and goes on in the lines *below*, of which none is missing.

    None for all other forms.
    """
    while below and not below[-1]:
        below.pop()
    if not below or not all(map(str.isprintable, below)):
        return None
    if beside in _CHOMPED:
        return _literal(below, _CHOMPED[beside])
    folded = " ".join([beside.rstrip(" "), *(line.strip(" ") for line in below)])
    if "" in map(str.strip, below) or not beside.isprintable():
        return None
    if SINGLE.fullmatch(folded):
        return [folded[1:-1].replace("''", "'")]
    if is_plain(beside) and all(map(PLAIN_GOES_ON.fullmatch, below)):
        return [plain[folded]]
    return None


def _literal(below: list[str], end: str) -> list[object] | None:
    column = len(below[0]) - len(below[0].lstrip(" "))
    indent = " " * column
    if column == len(below[0]) or not all(line.startswith(indent) or not line for line in below):
        return None
    return ["\n".join(line[column:] for line in below).rstrip("\n") + end]
