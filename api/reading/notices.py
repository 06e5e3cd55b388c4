"""What is odd in the input, but no error: one notice for each place, and one line for all notices that say the same."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ...exceptions import one_line


@attrs.frozen
class Notice:
    """One oddity.

    >>> Notice("Pod shop/web-0", "spec.priorityClassName: no PriorityClass high was given")
    Notice(where='Pod shop/web-0', what='spec.priorityClassName: no PriorityClass high was given')
    """

    where: str
    """The place, such as file, document and object; empty for the input as a whole."""
    what: str
    """What is odd. It is the same text for all places that have the same oddity."""

    def __str__(self) -> str:
        return one_line(f"{self.where}: {self.what}" if self.where else self.what)


def in_groups(notices: Iterable[Notice]) -> list[str]:
    """One line for all notices that say the same, with their number and the first place, in order of first appearance.

    >>> in_groups([Notice("Pod a", "no such class"), Notice("Pod b", "no such class"), Notice("", "no Nodes")])
    ['Pod a and 1 more: no such class', 'no Nodes']
    """
    groups: dict[str, list[Notice]] = {}
    for notice in notices:
        groups.setdefault(notice.what, []).append(notice)
    return [_line(group) for group in groups.values()]


def _line(group: list[Notice]) -> str:
    first, more = group[0], len(group) - 1
    return one_line(f"{first.where} and {more:,} more: {first.what}") if more else str(first)
