"""From a configuration to an engine, for every release: the one way of the command line, the Python API and the simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ..algorithmprovider.cells import TIE_BREAKS
from ..algorithmprovider.extenders import ExtenderConfig, UncalledExtender
from ..api.objects.quantity import MAX_INT64
from ..core.classic import classic_engine
from ..core.decision.extender import Extender
from ..core.decision.ties import PickHost
from ..core.engine import Engine
from ..core.release import Release
from ..core.rule import Algorithm
from ..exceptions import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from .config.configuration import KubeSchedulerConfiguration
    from .plugin import Plugin


class MakeExtenders(Protocol):
    """Makes the extenders that a Policy or a configuration names."""

    def __call__(self, configs: Sequence[ExtenderConfig], release: Release) -> Sequence[Extender]: ...


def build_engine(
    wanted: Algorithm | KubeSchedulerConfiguration,
    *,
    plugins: Sequence[type[Plugin]] = (),
    preempts: bool = True,
    tie_break: str | PickHost = "release",
    seed: int = 0,
    max_pd_vols: int | None = None,
    extenders: Iterable[Extender] | MakeExtenders = (),
    leaves_uncalled: bool = False,
    **options: Any,
) -> Engine:
    """A scheduler of an algorithm (1.12 to 1.16) or of profiles (from 1.17 on).

    *plugins* are a user's own and *preempts* says whether PostFilter runs; both are for profiles alone. *tie_break* is a name of
    :data:`~kubeclassic.algorithmprovider.cells.TIE_BREAKS`, drawn by *seed*, or a function. *extenders* are called,
    or those that the function makes of the ones that *wanted* names. *leaves_uncalled*: nothing says that these are to be called, so that
    answers say that they are not. *options* are fields of the Engine.
    *max_pd_vols*: how many cloud disks of each type a node can have that does not say so itself; upstream reads KUBE_MAX_PD_VOLS.
    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for profiles that are refused.
    """
    draw = _tie_break(tie_break)
    if max_pd_vols is not None and not (type(max_pd_vols) is int and 0 < max_pd_vols <= MAX_INT64):
        raise UnknownNameError(f"max_pd_vols: expected a whole number above 0, got {max_pd_vols!r}")
    release = wanted.release
    options["extenders"] = tuple(extenders(wanted.extenders, release) if callable(extenders) else extenders)
    if leaves_uncalled and wanted.extenders:
        wanted = attrs.evolve(wanted, extenders=tuple(map(UncalledExtender.of, wanted.extenders)))
    if isinstance(wanted, Algorithm):
        wanted = wanted if max_pd_vols is None else attrs.evolve(wanted, max_pd_vols=max_pd_vols)
        return classic_engine(wanted, pick_host=draw(release, seed), **options)
    from .flow import framework_engine  # half of this package: up to 1.16 none of it is needed
    from .registry import registry_of, with_plugins

    # Every candidate for preemption is tried, so that the answer does not hang on where a search happens to begin.
    return framework_engine(
        wanted, registry=with_plugins(registry_of(release), plugins), preempts=preempts, shortlists=False,
        max_pd_vols=max_pd_vols, pick_host=draw(release, seed), **options,
    )  # fmt: skip


def _tie_break(wanted: str | PickHost) -> Callable[[Release, int], PickHost]:
    if not isinstance(wanted, str):
        return lambda release, seed: wanted
    if wanted not in TIE_BREAKS:
        raise UnknownNameError(f'tie_break: expected {", ".join(TIE_BREAKS)}, got "{wanted}"{did_you_mean(wanted, TIE_BREAKS)}')
    return TIE_BREAKS[wanted]
