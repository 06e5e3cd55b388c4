"""The extenders of a configuration, and how they are reached: over HTTP, not at all, recorded or replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ..algorithmprovider.extenders import ExtenderConfig
from ..core.decision import Extender
from ..core.release import Release
from ..exceptions import UnknownNameError

if TYPE_CHECKING:
    from .extender import HttpExtender
    from .overhttp import ExtenderRecord, Post, Replayed

WAYS = "off, call, record FILE or replay FILE"

OpenPost = Callable[[ExtenderConfig], "Post"]
"""A function that makes the :data:`~.overhttp.Post` for an extender."""


def make_extenders(
    configs: Sequence[ExtenderConfig], release: Release, open_post: OpenPost | None = None
) -> list[HttpExtender]:
    """The extenders that a Policy or a configuration names, in its order. The HTTP client is imported only if
    there are some."""
    from .extender import Bodies, HttpExtender
    from .overhttp import http_post

    bodies = Bodies()
    return [HttpExtender(config, release, (open_post or http_post)(config), bodies) for config in configs]


@attrs.frozen(repr=False)
class ConfiguredExtenders:
    """The extenders that a Policy or a configuration names, called as *how* says in the words of
    ``--extenders``.

    Without *how* none is called: a file that others wrote must not decide where a cluster's manifests are
    sent. Raises :class:`~kubeclassic.exceptions.UnknownNameError` for other words.
    """

    how: str | None = None
    _record: list[ExtenderRecord | Replayed] = attrs.field(factory=list, init=False, eq=False)
    """The record, once it is open: all schedulers of a question go on in it."""

    def __attrs_post_init__(self) -> None:
        word, _, file = self._words
        takes_file = {"off": False, "call": False, "record": True, "replay": True}
        if takes_file.get(word) is not bool(file.strip()):
            raise UnknownNameError(f'extenders: expected {WAYS}, got "{self.how}"')

    @property
    def _words(self) -> tuple[str, str, str]:
        return ("off" if self.how is None else self.how).partition(" ")

    def __call__(self, configs: Sequence[ExtenderConfig], release: Release) -> Sequence[Extender]:
        """New extenders. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a record that cannot be
        read."""
        word, _, file = self._words
        if word == "off" or not configs:
            return ()
        if word == "call":
            return make_extenders(configs, release)
        from .overhttp import ExtenderRecord, RecordingPost, Replayed, http_post

        if not self._record:
            path = Path(file.strip())
            self._record.append(Replayed.read(path) if word == "replay" else ExtenderRecord(path))
        (record,) = self._record

        def open_post(config: ExtenderConfig) -> Post:
            return record if isinstance(record, Replayed) else RecordingPost(http_post(config), record)

        return make_extenders(configs, release, open_post)


def asked_extenders(extenders: Iterable[Extender] | str | None) -> Iterable[Extender] | ConfiguredExtenders:
    """The meaning of Python's option ``extenders``: extenders themselves, or the way to call configured
    ones."""
    return ConfiguredExtenders(extenders) if extenders is None or isinstance(extenders, str) else extenders
