"""From paths and options to a scheduler and the scenario that it is asked about: what all commands that schedule begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ...api.objects import Node
from ...api.reading.notices import refuse_unread
from ...core.engine import Engine
from ...framework.releases import find_any_release, is_auto
from ...simulation.releasenotes import auto_told, with_release_notices
from ...simulation.scenario import Scenario
from ..console.output import note
from ..console.progress import telling
from ..declaring.options import ClusterChoice
from ..engines.configurations import NamedSetup
from ..engines.setup import Setup

if TYPE_CHECKING:
    pass


@attrs.frozen
class Opened:
    """A scenario, and the new scheduler for it. The scenario's warnings also say what the release does not read."""

    setup: Setup
    """As it was given, but with a release in place of ``auto``."""
    scenario: Scenario
    engine: Engine

    @property
    def scheduler_names(self) -> frozenset[str]:
        """Whose pods wait."""
        return self.setup.spec.scheduler_names


def opened(paths: tuple[Path, ...], cluster: ClusterChoice, setup: Setup) -> Opened:
    """Read *paths* and ``--pods``, and make the scheduler that *setup* asks for.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input or options.
    """
    if not is_auto(setup.release):
        setup.spec  # noqa: B018  # mistakes are told before any file is read
    with reading(paths):
        files = cluster.files(paths, keeps_manifests=setup.may_call_extenders)
    settled = settled_for(setup, files.nodes)
    spec = settled.spec
    with reading(paths):
        scenario = files.scenario(spec.scheduler_names, cron_jobs=cluster.cron_jobs, priorities=spec.keeps_priorities)
    tell_edits(scenario)
    engine = spec.engine(scenario.config_maps)
    ours = [engine.algorithm]
    noted = with_release_notices(scenario, ours, ours if setup.release is None else (), ours if is_auto(setup.release) else ())
    return Opened(settled, checked_scenario(noted, cluster), engine)


def checked_scenario(scenario: Scenario, cluster: ClusterChoice) -> Scenario:
    """*scenario*; with ``--strict`` raises :class:`~kubeclassic.api.reading.notices.UnreadError` where something does not count."""
    if cluster.strict:
        refuse_unread(scenario.warnings)
    return scenario


def reading(paths: Iterable[Path]) -> AbstractContextManager[Callable[[str], None]]:
    """A context in which people who wait are told that *paths* are read."""
    return telling("reading", ", ".join(map(str, paths)))


def tell_edits(scenario: Scenario) -> None:
    """Say what each ``--set`` did."""
    for edited in scenario.edited:
        note(str(edited))


def settled_for(setup: Setup, nodes: Sequence[Node]) -> Setup:
    """*setup* with the release of *nodes* in place of ``auto``, and a line that says so."""
    settled = setup.settled(nodes)
    if is_auto(setup.release):
        note(auto_told(find_any_release(settled.version), nodes))
    return settled


@attrs.frozen
class Contest:
    """A scenario, and a new scheduler for each configuration by its name."""

    wanted: tuple[NamedSetup, ...]
    scenario: Scenario
    engines: Mapping[str, Engine]


def contest(paths: tuple[Path, ...], cluster: ClusterChoice, wanted: tuple[NamedSetup, ...]) -> Contest:
    """As :func:`opened`, for several configurations; the first one says whose pods wait, and what admission does."""
    with reading(paths):
        files = cluster.files(paths, keeps_manifests=any(one.setup.may_call_extenders for one in wanted))
    settled = tuple(one.settled(files.nodes) for one in wanted)
    for before, one in zip(wanted, settled, strict=True):
        if is_auto(before.setup.release):
            note(f"--{one.name}: {auto_told(find_any_release(one.setup.version), files.nodes)}")
    spec = settled[0].setup.spec
    with reading(paths):
        scenario = files.scenario(spec.first_scheduler_name, cron_jobs=cluster.cron_jobs, priorities=spec.keeps_priorities)
    tell_edits(scenario)
    engines = {one.name: one.engine(scenario.config_maps) for one in settled}
    algorithms = [engine.algorithm for engine in engines.values()]
    by_nodes = [engines[one.name].algorithm for one in wanted if is_auto(one.setup.release)]
    noted = with_release_notices(scenario, algorithms, by_nodes=by_nodes)
    return Contest(settled, checked_scenario(noted, cluster), engines)
