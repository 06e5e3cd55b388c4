"""From a configuration to its extenders, and how they are reached: over HTTP or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from ..algorithmprovider.extenders import ExtenderConfig
from ..choices import EXTENDERS
from ..core.decision.extender import Extender
from ..core.release import Release
from ..exceptions import UnknownNameError

if TYPE_CHECKING:
    from .extender import HttpExtender
    from .overhttp import Post

OpenPost = Callable[[ExtenderConfig], "Post"]
"""How an extender is reached."""


def http_post(config: ExtenderConfig) -> Post:
    """A :class:`Post` over HTTP. The HTTP client is imported only where there is an extender."""
    from .overhttp import http_post as post_of

    return post_of(config)


def make_extenders(
    configs: Sequence[ExtenderConfig], release: Release, open_post: OpenPost | None = None
) -> list[HttpExtender]:
    """The extenders that a Policy or a configuration names, in its order. What talks to them is imported only
    where there are some."""
    from .extender import Bodies, HttpExtender

    bodies = Bodies()
    return [HttpExtender(config, release, (open_post or http_post)(config), bodies) for config in configs]


@attrs.frozen(repr=False)
class ConfiguredExtenders:
    """The extenders that a Policy or a configuration names, reached by *how*, which has the word of
    ``--extenders``.

    Without a word none is called: a file that others wrote must not say where a cluster's manifests are sent.
    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for another word.
    """

    how: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.how not in (None, *EXTENDERS):
            raise UnknownNameError(f'extenders: expected {" or ".join(EXTENDERS)}, got "{self.how}"')

    def __call__(self, configs: Sequence[ExtenderConfig], release: Release) -> Sequence[Extender]:
        """New extenders."""
        return make_extenders(configs, release) if configs and self.how == "call" else ()


def asked_extenders(given: Iterable[Extender] | str | None) -> Iterable[Extender] | ConfiguredExtenders:
    """The meaning of Python's option ``extenders``: extenders themselves, or the way to call configured
    ones."""
    return ConfiguredExtenders(given) if given is None or isinstance(given, str) else given
