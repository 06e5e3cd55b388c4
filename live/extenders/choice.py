"""From a configuration to its extenders, and how they are reached: over HTTP, not at all, recorded or replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...algorithmprovider.extenders import ExtenderConfig
from ...core.release import Release
from ...exceptions import UnknownNameError
from .bodies import Bodies
from .extender import HttpExtender
from .overhttp import http_post
from .post import Post
from .recorded import Recorded, Replayed

WAYS = "off, record FILE or replay FILE"

OpenPost = Callable[[ExtenderConfig], Post]
"""How an extender is reached."""


def make_extenders(configs: Sequence[ExtenderConfig], release: Release, open_post: OpenPost = http_post) -> list[HttpExtender]:
    """The extenders that a Policy or a configuration names, in its order."""
    bodies = Bodies(release.version)
    return [HttpExtender(config, release, open_post(config), bodies) for config in configs]


def way_to_extenders(how: str | None) -> OpenPost | None:
    """How extenders are reached by the words of ``--extenders``: over HTTP without any; None: they are not called.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for other words, and for a record that cannot be read.
    """
    if how is None:
        return http_post
    if how == "off":
        return None
    word, _, file = how.partition(" ")
    if word not in ("record", "replay") or not file.strip():
        raise UnknownNameError(f'extenders: got "{how}", wanted {WAYS}')
    path = Path(file.strip())
    if word == "replay":
        replayed = Replayed.read(path)
        return lambda config: replayed
    recorded = Recorded.begin(path)
    return lambda config: recorded.beside(http_post(config))
