"""From a configuration to an engine, for every release: the one way of the command line, the Python API and the simulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..algorithmprovider.tiebreak import TIE_BREAKS
from ..core.classic import classic_engine
from ..core.decision.ties import PickHost
from ..core.engine import Engine
from ..core.release import Release
from ..core.rule import Algorithm
from ..exceptions import UnknownNameError, did_you_mean
from .config.configuration import KubeSchedulerConfiguration
from .flow import framework_engine
from .plugin import Plugin
from .registry import DEFAULT_REGISTRY, with_plugins
from .releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES


def build_engine(
    wanted: Algorithm | KubeSchedulerConfiguration,
    *,
    plugins: Sequence[type[Plugin]] = (),
    preempts: bool = True,
    tie_break: str | PickHost = "release",
    seed: int = 0,
    **options: Any,
) -> Engine:
    """A scheduler of an algorithm (1.12 to 1.16) or of profiles (1.27).

    *plugins* are a user's own and *preempts* says whether PostFilter runs; both are for profiles alone. *tie_break* is a name of
    :data:`~kubeclassic.algorithmprovider.tiebreak.TIE_BREAKS`, drawn by *seed*, or a function; *options* are fields of the Engine.
    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for profiles that are refused.
    """
    draw = _tie_break(tie_break)
    if isinstance(wanted, Algorithm):
        return classic_engine(wanted, pick_host=draw(wanted.release, seed), **options)
    # Every candidate for preemption is tried, so that the answer does not hang on where a search happens to begin.
    return framework_engine(
        wanted, registry=with_plugins(DEFAULT_REGISTRY, plugins), preempts=preempts, shortlists=False,
        pick_host=draw(FRAMEWORK_RELEASES[DEFAULT_FRAMEWORK], seed), **options,
    )  # fmt: skip


def _tie_break(wanted: str | PickHost) -> Callable[[Release, int], PickHost]:
    if not isinstance(wanted, str):
        return lambda release, seed: wanted
    if wanted not in TIE_BREAKS:
        raise UnknownNameError(f'tie_break: got "{wanted}", wanted {", ".join(TIE_BREAKS)}{did_you_mean(wanted, TIE_BREAKS)}')
    return TIE_BREAKS[wanted]
