"""An edit in words: a kind of objects, which of them, and what changes: ``node pool=a taints-=x unschedulable=true``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import attrs

from ...api.controlplane.workloads import WORKLOADS
from ...api.kindnames import kind_words
from ...api.meaning.labels import Matcher, SelectorError, parse_selector
from ...exceptions import UnknownNameError, did_you_mean, one_line
from .changes import FieldChange
from .paths import EditError, Json
from .resources import check_resource
from .shorthand import path_for

WANTED = "KIND SELECTOR CHANGE..., such as 'pod web/* requests.cpu=500m' or 'node pool=a taints-=x'"
EVERYTHING = "*"
PATTERN_MARKS = "*?["
_FLAG = re.compile(r"\A--set '.*?': ", re.DOTALL)


@attrs.frozen
class Edit:
    """Changes of all objects of a kind that are chosen by name or by labels."""

    text: str
    kind: str
    names: str | None
    """A pattern of ``namespace/name`` or ``name``; None: *labels* choose."""
    labels: Matcher
    changes: tuple[FieldChange, ...]

    @classmethod
    def parse(cls, text: str) -> Edit:
        """The edit that *text* says. Raises :class:`~.paths.EditError`.

        >>> edit = Edit.parse("pod web/* requests.cpu=500m")
        >>> edit.kind, edit.names, edit.changes[0].value
        ('Pod', 'web/*', '500m')
        """
        try:
            return cls._parse(text)
        except (EditError, UnknownNameError) as error:
            raise EditError(f"{shown(text)}: {error}") from None

    @classmethod
    def _parse(cls, text: str) -> Edit:
        try:
            words = shlex.split(text)
        except ValueError:
            raise EditError("got a quote that does not end, wanted its end") from None
        if len(words) < 3:
            raise EditError(f"got {len(words)} {'word' if len(words) == 1 else 'words'}, wanted {WANTED}")
        kind, chosen = _kind(words[0]), words[1]
        is_labels = any(mark in chosen for mark in ("=", "!", "(")) or chosen.startswith("-l")
        written = (FieldChange.split(word) for word in words[2:])
        changes = tuple(check_resource(FieldChange(path_for(kind, field), operator, value)) for field, operator, value in written)
        return cls(text, kind, None if is_labels else chosen, _matcher(chosen if is_labels else ""), changes)

    @property
    def is_about_pods(self) -> bool:
        """Whether it changes pods, which workloads may still have to make."""
        return self.kind == "Pod"

    @property
    def exact_name(self) -> str | None:
        """The name that all chosen objects have; None: it is a pattern, or labels choose."""
        return None if self.names is None or any(mark in self.names for mark in PATTERN_MARKS) else self.names.rpartition("/")[2]

    def chooses(self, namespace: str, name: str, labels: Mapping[str, str]) -> bool:
        """Whether an object of the kind is meant."""
        if self.names is None:
            return self.labels(labels)
        pattern = self.names
        return fnmatchcase(f"{namespace}/{name}" if "/" in pattern else name, pattern)

    def made(self, manifest: dict[str, Json]) -> dict[str, Json]:
        """A copy of *manifest* with all changes. Raises :class:`~.paths.EditError`."""
        for change in self.changes:
            manifest = change.made(manifest)
        return manifest

    @property
    def fields(self) -> Iterable[str]:
        """The names of the fields that change, the last step of each path."""
        return (change.path[-1].name for change in self.changes)


def shown(text: str) -> str:
    """An edit as messages name it: on one line, and without the middle if it is long."""
    return f"--set '{one_line(text, 300)}'"


def without_flag(text: str) -> str:
    """A message about an edit without the words of the command line, for those who type the edit alone.

    >>> without_flag("--set 'pod a b=1': got no Pod")
    'got no Pod'
    """
    return _FLAG.sub("", text, count=1)


def _matcher(text: str) -> Matcher:
    try:
        return parse_selector(text)
    except SelectorError as error:
        raise EditError(f"selector: {error}") from None


def _kind(word: str) -> str:
    words = {**kind_words(), **{form: kind for kind in WORKLOADS for form in (kind.lower(), f"{kind.lower()}s")}, "deploy": "Deployment"}
    words |= {"ds": "DaemonSet", "cj": "CronJob"}
    found = words.get(word.lower())
    if found is None:
        raise UnknownNameError(f'kind: got "{word}", wanted one such as pod, node or deployment{did_you_mean(word.lower(), words)}')
    return found
