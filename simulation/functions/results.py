"""What the functions give: values with a record, a short repr, a form for notebooks, and tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ...api.frames import make_frame
from ...api.notebooks import LineChart, Look, NodeMap, Rows, Share
from ...api.reading.notices import InputWarning, NoticeGroup, ResultDocument
from ...api.record import plain
from ...exceptions import UnknownNameError

Row = dict[str, Any]


@attrs.frozen
class Table:
    """Rows of a result: ``columns`` in order, and a value by column in each row."""

    columns: Sequence[str]
    rows: Sequence[Row]

    @classmethod
    def of(cls, rows: Sequence[Row], first: Sequence[str] = ()) -> Table:
        """A table of *rows*, which may lack columns; the columns are in the order in which they first occur, *first* before all others."""
        return cls(tuple(dict.fromkeys([*first, *(name for row in rows for name in row)])), rows)


class Result(ABC):
    """The base of all results. They can be pickled and copied, and do not hang on files or on a scheduler."""

    warnings: tuple[NoticeGroup, ...] = ()
    """What is odd in the input, and what of it does not count; as texts they are sentences, and :attr:`~NoticeGroup.pods` has the pods."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """As plain data, in the form that the command prints with ``-o json``."""

    def _plain(self, document: Callable[[tuple[InputWarning, ...]], ResultDocument]) -> dict[str, Any]:
        """What *document* makes of the warnings, as plain data."""
        found: dict[str, Any] = plain(document(tuple(group.record() for group in self.warnings)))
        return found

    @abstractmethod
    def tables(self) -> Mapping[str, Table]:
        """The tables that :meth:`to_frame` makes, by name; the first is the one that is shown in a notebook."""

    @abstractmethod
    def facts(self) -> Mapping[str, object]:
        """The result in a few words; what is None is left out."""

    def to_frame(self, table: str | None = None, library: str | None = None) -> Any:
        """A table as a DataFrame: by default the first of :meth:`tables`.

        *library* is ``pandas`` or ``polars``; by default the first of them that is installed. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError` if there is no such table, or none of them is installed.
        """
        tables = self.tables()
        name = next(iter(tables)) if table is None else table
        if name not in tables:
            raise UnknownNameError(f'table: got "{name}", wanted {" or ".join(tables)}')
        return make_frame(tables[name].rows, tables[name].columns, library)

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.facts().items() if value is not None)
        return f"<{type(self).__name__}: {told}>"

    def verdict(self) -> str:
        """The outcome in one sentence."""
        return ""

    def shares(self) -> Sequence[Share]:
        """The outcome as parts of one whole; empty where it is none."""
        return ()

    def node_map(self) -> NodeMap | None:
        """The nodes with their use; None where the result has none."""
        return None

    def lines(self) -> LineChart | None:
        """What changes over time; None where nothing does."""
        return None

    def _repr_html_(self) -> str:
        (_, first), *others = self.tables().items()
        more = {name: Rows(table.columns, _rows(table)) for name, table in others}
        return Look(
            type(self).__name__, self.facts(), first.columns, _rows(first), verdict=self.verdict(), shares=self.shares(),
            map=self.node_map(), lines=self.lines(), more=more,
        ).html()  # fmt: skip


def _rows(table: Table) -> list[tuple[Any, ...]]:
    return [tuple(row.get(column) for column in table.columns) for row in table.rows]
