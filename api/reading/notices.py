"""Notices: oddities of the input that are no errors, one for each place, and one line for all that say the
same.

Some notices are about parts of the input that an answer ignores (:class:`Unread`): then the answer itself
says so, in a sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs

from ...exceptions import KubeclassicError, ManifestError, one_line
from ..objects import JsonObject
from ..record import DocumentRecord, Names, Record
from .decode import api_fields, has_only_api_fields, misnamed

_POD = "Pod "


@attrs.frozen
class Notice:
    """One oddity.

    >>> Notice("Pod shop/web-0", "spec.priorityClassName: no PriorityClass high was given")
    Notice(where='Pod shop/web-0', what='spec.priorityClassName: no PriorityClass high was given')
    """

    where: str
    """The place, such as file, document and object; empty for the input as a whole."""
    what: str
    """The oddity in words, the same for all places that have it."""
    about: str | None = attrs.field(default=None, kw_only=True, repr=False, eq=False)
    """The object, ``Pod shop/web-0``; empty: the input as a whole; None: *where* names it."""

    @property
    def subject(self) -> str:
        """The object that it is about, kind and key; empty for the input as a whole."""
        return self.where if self.about is None else self.about

    def bears_on(self, names: Collection[str]) -> bool:
        """Whether it is about one of the objects *names*, or about the whole cluster: something without a
        namespace.

        >>> [Notice(where, "").bears_on({"Pod shop/web-0"}) for where in ("Pod shop/web-0", "Pod shop/web-1", "Node a", "")]
        [True, False, True, True]
        """
        return self.subject in names or "/" not in self.subject

    def __str__(self) -> str:
        return one_line(f"{self.where}: {self.what}" if self.where else self.what)


@attrs.frozen
class Unread(Notice):
    """Something of an object that does not count, since the release does not read it: the answer may be too
    hopeful."""

    thing: str = ""
    """The thing that does not count, in the plural where there can be several: ``sidecars``. Empty: *what* is
    the whole sentence."""
    why: str = ""
    """The reason: ``1.27 does not support them``."""
    field: str = ""
    """The field of the object."""
    release: str = ""
    gate: str = ""
    """The feature gate that makes the release read it."""

    def sentence(self, count: int) -> str:
        """All notices that say the same in one sentence; *count*: of how many objects.

        >>> Unread("Pod a", "...", "sidecars", "1.27 does not support them").sentence(12)
        'Sidecars of 12 pods are ignored: 1.27 does not support them'
        """
        if not self.thing:
            return self.what
        kind = self.where.partition(" ")[0]
        noun = kind.lower() if kind in ("Pod", "Node") else kind
        are = "are" if self.thing.endswith("s") else "is"
        return f"{self.thing[0].upper()}{self.thing[1:]} of {count:,} {noun}{'s' * (count > 1)} {are} ignored: {self.why}"


class UnreadError(KubeclassicError):
    """Something does not count in the answer, and ``--strict`` refuses that."""


@attrs.frozen
class NoticeGroup:
    """All notices that say the same; as a text it is one line."""

    notices: tuple[Notice, ...]

    def __str__(self) -> str:
        first = self.notices[0]
        more = len(self.notices) - 1
        return one_line(f"{first.where} and {more:,} more: {first.what}") if more else str(first)

    @property
    def is_unread(self) -> bool:
        """Whether it is about something that does not count in the answer."""
        return isinstance(self.notices[0], Unread)

    @property
    def text(self) -> str:
        """The text in answers: a sentence about all objects where something does not count, else the line."""
        first = self.notices[0]
        return one_line(first.sentence(len(self.notices))) if isinstance(first, Unread) else str(self)

    @property
    def pods(self) -> list[str]:
        """Affected pods, as namespace/name."""
        return [
            notice.subject.removeprefix(_POD) for notice in self.notices if notice.subject.startswith(_POD)
        ]

    def record(self) -> InputWarning:
        """As data."""
        first = self.notices[0]
        unread_notice = first if isinstance(first, Unread) else Unread("", "")
        other_places = tuple(
            notice.where for notice in self.notices if notice.where and not notice.where.startswith(_POD)
        )
        return InputWarning(
            self.text,
            unread_notice.field or None,
            unread_notice.release or None,
            unread_notice.gate or None,
            tuple(self.pods),
            other_places,
        )


class InputWarning(Record):
    """A warning about the input, or about something in it that is ignored."""

    text: str
    """The whole warning as text."""
    field: str | None
    """The ignored field; null: the warning is about something else."""
    release: str | None
    """The release that ignores it."""
    feature_gate: str | None
    """The feature gate with which the release supports it."""
    pods: Names
    """Affected pods, as namespace/name."""
    others: Names
    """Other affected objects or places."""


class ResultDocument(DocumentRecord, kw_only=True):
    """The base of the documents that answer a question about an input."""

    warnings: tuple[InputWarning, ...] = ()
    """Warnings about the input, and about parts of it that are ignored."""


def grouped(notices: Iterable[Notice]) -> tuple[NoticeGroup, ...]:
    """The notices in groups that say the same, in order of first appearance."""
    groups: dict[str, list[Notice]] = {}
    for notice in notices:
        groups.setdefault(notice.what, []).append(notice)
    return tuple(NoticeGroup(tuple(group)) for group in groups.values())


def in_groups(notices: Iterable[Notice]) -> list[str]:
    """A line for each group of notices that say the same: the first place, and their number. The order is
    that of first appearance.

    >>> in_groups([Notice("Pod a", "no such class"), Notice("Pod b", "no such class"), Notice("", "no Nodes")])
    ['Pod a and 1 more: no such class', 'no Nodes']
    """
    return [str(group) for group in grouped(notices)]


def unread_sentences(notices: Iterable[Notice]) -> list[str]:
    """Sentences on the parts of the input that do not count in the answer.

    >>> unread_sentences([Unread("Pod a", "x", "overhead", "1.14 does not support it"), Notice("", "no Nodes")])
    ['Overhead of 1 pod is ignored: 1.14 does not support it']
    """
    return [group.text for group in grouped(notices) if group.is_unread]


def refuse_unread(notices: Sequence[Notice]) -> None:
    """Raise :class:`UnreadError` if something does not count in the answer."""
    unread_groups = [group for group in grouped(notices) if group.is_unread]
    if unread_groups:
        first = unread_groups[0]
        more = len(unread_groups) - 1
        place = first.notices[0].where
        suffix = f"; {more} more such {'warning' if more == 1 else 'warnings'}" if more else ""
        raise UnreadError(f"--strict: {first.text}{f', first {place}' if place else ''}{suffix}")


@attrs.define
class Oddities:
    """A collector of oddities of documents; *is_strict*: mistakes are refused instead."""

    is_strict: bool = False
    notices: list[Notice] = attrs.Factory(list)

    def tell(self, place: object, what: str, about: str = "") -> None:
        """Warn of an oddity of the object *about* that is no mistake."""
        self.notices.append(Notice(str(place), what, about=about))

    def note(self, place: object, what: str, about: str = "") -> None:
        """Warn of a mistake in the object *about*, or raise
        :class:`~kubeclassic.exceptions.ManifestError`."""
        if self.is_strict:
            raise ManifestError(f"{place}: {what}")
        self.tell(place, what, about)

    def note_repeated(self, paths: Iterable[str], place: object, about: str = "") -> None:
        """Note the keys at *paths*, which an object has twice."""
        for path in paths:
            self.note(place, f"{path}: given twice, the last one counts", about)

    def note_unknown(self, kind: str, data: JsonObject, place: object, about: str = "") -> None:
        """Note the fields of an object of *kind* that the API does not have."""
        if has_only_api_fields(kind, data):
            return
        for path, suggestion in misnamed(data, api_fields(kind, data.get("apiVersion"))):
            self.note(place, f"{path}: unknown field{suggestion}", about)
