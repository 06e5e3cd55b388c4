"""Which rows of a table changed, oldest first; every reader keeps a cursor."""

from __future__ import annotations

import enum

import attrs


class What(enum.IntFlag):
    """What about a row changed."""

    NODE = 1
    """Its node object."""
    PODS = 2
    """Its pods, and with them the sums, ports and volumes."""
    ALL = 3


@attrs.define(eq=False)
class ChangeLog:
    """An append-only list of (row, what); entries that every possible reader would re-read as *everything* are dropped."""

    limit: int = 100_000
    start: int = 0
    _entries: list[tuple[int, What]] = attrs.field(factory=list)

    @property
    def cursor(self) -> int:
        """Where the log ends now."""
        return self.start + len(self._entries)

    def mark(self, row: int, what: What) -> None:
        """Note that *row* changed."""
        self._entries.append((row, what))
        if len(self._entries) > self.limit:
            keep = self.limit // 2
            self.start += len(self._entries) - keep
            del self._entries[:-keep]

    def since(self, cursor: int) -> dict[int, What] | None:
        """The rows changed since *cursor* and what about them, None where the log no longer reaches back so far."""
        if cursor < self.start:
            return None
        found: dict[int, What] = {}
        for row, what in self._entries[cursor - self.start :]:
            found[row] = found.get(row, What(0)) | what
        return found
