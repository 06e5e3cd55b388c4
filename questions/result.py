"""Results of questions: values with a document, a short repr, and a view that text, pages, data frames and
notebooks print."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from ..api.reading import InputWarning, NoticeGroup
from ..api.record import Record, plain
from ..api.view import NextStep, View
from ..simulation.reasons import phrase

Row: TypeAlias = dict[str, Any]

NOTHING_TRIED = "No pod is pending, so nothing was tried"


def for_reasons(counts: Mapping[str, int]) -> str:
    """For what pods have no place, reason -> pods: the three most frequent ones, and how many pods have
    others."""
    ordered = sorted(counts.items(), key=lambda one: -one[1])
    parts = [f"{pods:,} for {phrase(reason, pods)}" for reason, pods in ordered[:3]]
    if len(ordered) == 1:
        return f"{'all ' if ordered[0][1] > 1 else ''}because of {phrase(*ordered[0])}"
    rest = sum(pods for _, pods in ordered[3:])
    return ", ".join([*parts, *([f"{rest:,} for other reasons"] if rest else [])])


def help_for(pod: str) -> NextStep:
    """To ask what would help *pod*."""
    return NextStep(f"What would help {pod}:", ("explain", pod, "--what-if"))


@attrs.frozen(eq=False, repr=False, kw_only=True, slots=False)
class Result(ABC):
    """The base of all results. They can be pickled and copied, and do not hang on files or on a scheduler."""

    warnings: tuple[NoticeGroup, ...] = ()
    """What is odd in the input, and what of it does not count; as texts they are sentences, and
    :attr:`~NoticeGroup.pods` has the pods."""

    @property
    @abstractmethod
    def ok(self) -> bool:
        """Whether the answer is yes: then the command exits with 0, else with 1."""

    @property
    @abstractmethod
    def document(self) -> Record | dict[str, Any]:
        """All of it, typed; manifests are as they are."""

    def view(self) -> View:
        """Its view: the verdict, facts, tables, and where there are some a map and lines."""
        return attrs.evolve(self._view(), title=type(self).__name__)

    @abstractmethod
    def _view(self) -> View:
        """The same without its title, which is the name of its type."""

    def origin(self) -> dict[str, Any]:
        """The origin on a page beside the input, or otherwise: releases, rules, warnings, and what is
        unread."""
        return {}

    def asides(self, form: str) -> Iterable[str] | None:
        """The lines that standard error gets after the answer in *form*; None: the answer itself says at its
        end what does not count."""
        return None

    def record(self) -> dict[str, Any]:
        """As plain data: what the command prints with ``-o json``."""
        found: dict[str, Any] = plain(self.document)
        return found

    def to_frame(self, table: str | None = None, library: str | None = None) -> Any:
        """A table as a DataFrame: by default the first of :meth:`view`. *library*: ``pandas`` or ``polars``,
        as is installed.

        Each list of objects in :meth:`record` is a table too, with every field as a column: fields inside
        fields are ``requests.cpu``.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if there is no such table, or no library.
        """
        return self.view().frame(table, library, self.record())

    def told_warnings(self) -> tuple[InputWarning, ...]:
        """The warnings as the document has them."""
        return tuple(group.record() for group in self.warnings)

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.view().facts.items() if value is not None)
        return f"<{type(self).__name__}: {told}>"

    def _repr_html_(self) -> str:
        return self.view().html()
