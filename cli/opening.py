"""From paths and options to a scheduler and the scenario that it is asked about: what all commands that
schedule begin with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from ..api.objects import DEFAULT_SCHEDULER, Node
from ..api.reading import Notice
from ..api.words import count_doing, count_of
from ..core.engine import Engine
from ..framework.releases import find_any_release, is_auto
from ..questions.options import ClusterOptions, OptionsError
from ..simulation.input import ComparisonInput, Input, Observer, paths_among
from ..simulation.releasenotes import auto_notice, auto_told
from ..simulation.simulate import Files, Scenario
from .answering import tell_line, tell_notices
from .console.output import note, warn
from .console.progress import telling, working
from .declaring.flags import SERVER_VERSION, environments_max_pd_vols
from .declaring.setup import NamedSetup, Setup

if TYPE_CHECKING:
    from ..live.client.api import Transport
    from ..live.client.http import Access
    from ..live.process.logs import Log
    from ..questions.compare.options import CompareOptions


def files_of(paths: Sequence[Path], options: ClusterOptions, *, keeps_manifests: bool = False) -> Files:
    """The contents of *paths* and ``--pods``, before a scheduler is chosen; *keeps_manifests* for
    extenders."""
    pods = paths_among("pods", options.waiting())
    with reading(paths):
        return Files.read(
            paths,
            pods,
            defaults=options.defaults,
            strict_fields=options.strict,
            keeps_manifests=keeps_manifests,
            edits=options.edits,
        )


def opened(paths: Sequence[Path], options: ClusterOptions, setup: Setup) -> Input:
    """Read *paths* and ``--pods``, and make the scheduler that *setup* asks for, with what the question
    changes of it.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input or options.
    """
    changes = options.changes()
    for name, value in changes.items():
        if value and not setup.get(name):
            raise OptionsError(f"{options.called(name)} cannot be combined with {setup.called(name)}")
    setup = setup.with_(**changes)
    setup.refuse_early()
    files = files_of(paths, options, keeps_manifests=setup.may_call_extenders)
    settled = setup.settled(files.nodes, version_read())
    spec = settled.spec
    with reading(paths):
        scenario = files.scenario(
            spec.scheduler_names, cron_jobs=options.cron_jobs, priorities=spec.keeps_priorities
        )
    tell_release(setup, settled, files.nodes)
    scenario = _with_server_notice(scenario, [settled.version] if is_auto(setup.release) else [])
    tell_edits(scenario)
    given = Input(
        scenario=scenario, spec=spec, order=options.order, defaults=options.defaults, strict=options.strict
    )
    return given.noted(setup.release)


def scenario_of_default(paths: Sequence[Path], options: ClusterOptions) -> Scenario:
    """Read *paths* and ``--pods`` for the default scheduler, whatever its release."""
    scenario = files_of(paths, options).scenario(DEFAULT_SCHEDULER, cron_jobs=options.cron_jobs)
    tell_edits(scenario)
    return scenario


@attrs.frozen(repr=False)
class Console(Observer):
    """Says on standard error what is odd in the input, and how far the work is."""

    verbose: bool = False

    def ready(self, given: Input | ComparisonInput, concerns: Collection[str] | None = None) -> None:
        if isinstance(given, ComparisonInput):
            tell_notices(given.scenario.warnings, self.verbose, concerns)
        else:
            tell(given.scenario, given.engine, self.verbose, concerns)

    @contextmanager
    def counting(self, total: int | None, what: str, unit: str = "") -> Iterator[Callable[[int, str], None]]:
        with working(what, total, unit) as work:
            yield work.tell

    @contextmanager
    def working(self, what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
        with working(what, unit=unit) as work:
            yield work.at

    def telling(self, what: str) -> AbstractContextManager[Callable[[str], None]]:
        return telling(what)

    def noticed(self, notices: Iterable[Notice]) -> None:
        tell_notices(notices)

    def remark(self, text: str) -> None:
        note(text)

    def doubt(self, text: str) -> None:
        warn(text)


def tell(scenario: Scenario, engine: Engine, verbose: bool, concerns: Collection[str] | None = None) -> None:
    """Warnings and, where asked for, what runs; *concerns*: as for :func:`~.answering.tell_notices`."""
    tell_notices(scenario.warnings, verbose, concerns)
    if not verbose:
        return
    waiting = count_doing(len(scenario.pending), "pod", "wait")
    note(f"release {engine.algorithm.release.version}, {count_of(scenario.node_count, 'node')}, {waiting}")
    for line in engine.describe():
        tell_line(line)
    for extender in engine.extenders:
        note(f"extender: {extender.url}{' (may fail)' if extender.is_ignorable else ''}")


def reading(paths: Iterable[Path]) -> AbstractContextManager[Callable[[str], None]]:
    """A context that says on standard error that *paths* are read."""
    return telling("reading", ", ".join(map(str, paths)))


def tell_edits(scenario: Scenario) -> None:
    """Say what each ``--set`` did; of one that changed nothing there is a warning."""
    for edited in scenario.edited:
        if edited.changed:
            note(str(edited))


def settled_for(setup: Setup, nodes: Sequence[Node]) -> Setup:
    """*setup* with the release of *nodes* in place of ``auto``, and a line that says so."""
    settled = setup.settled(nodes, version_read())
    tell_release(setup, settled, nodes)
    return settled


def tell_release(setup: Setup, settled: Setup, nodes: Sequence[Node], name: str = "") -> None:
    """Say which release of *nodes* is in place of ``auto``, of the configuration that option *name* gives."""
    if is_auto(setup.release):
        note(name + auto_told(find_any_release(settled.version), nodes, version_read()))


async def settled_by_server(setup: Setup, transport: Transport, log: Log) -> Setup:
    """*setup* with the release of the API server at the end of *transport* in place of ``auto``, and a log
    line that says so."""
    from ..live.snapshot import server_version

    if not is_auto(setup.release):
        return setup
    server = await server_version(transport)
    settled = setup.settled((), server)
    log.info(f"release {settled.version}: the API server runs {server or 'one that it does not name'}")
    return settled


async def release_of_server(setup: Setup, access: Access, log: Log) -> Setup:
    """As :func:`settled_by_server`, over a connection of its own."""
    from ..live.client.http import HttpTransport

    if not is_auto(setup.release):
        return setup
    async with HttpTransport(access) as transport:
        return await settled_by_server(setup, transport, log)


def version_read() -> str:
    """The version of the API server that was read, if its nodes say none; else empty."""
    context = click.get_current_context(silent=True)
    found: str = "" if context is None else context.meta.get(SERVER_VERSION, "")
    return found


def _with_server_notice(scenario: Scenario, releases: Sequence[str]) -> Scenario:
    """*scenario* with a warning for each of *releases*, which ``auto`` took, that is not that of the API
    server."""
    notices = [
        notice
        for release in releases
        if version_read()
        for notice in auto_notice(find_any_release(release), (), version_read())
    ]
    return attrs.evolve(scenario, warnings=(*scenario.warnings, *notices)) if notices else scenario


def contestants(paths: Sequence[Path], options: CompareOptions) -> ComparisonInput:
    """As :func:`opened`, for several configurations; the first one says whose pods wait, and what admission
    does."""
    from ..questions.compare.options import NAMES

    limit = environments_max_pd_vols()
    wanted = [
        NamedSetup.parse(name, text, limit) for name in NAMES if (text := getattr(options, name)) is not None
    ]
    files = files_of(paths, options, keeps_manifests=any(one.setup.may_call_extenders for one in wanted))
    settled = []
    by_nodes = {}
    for one in wanted:
        found = one.setup.settled(files.nodes, version_read())
        if is_auto(one.setup.release):
            found.check()
            by_nodes[one.name] = found.version
        settled.append(attrs.evolve(one, setup=found))
    spec = settled[0].setup.spec
    with reading(paths):
        scenario = files.scenario(
            spec.first_scheduler_name, cron_jobs=options.cron_jobs, priorities=spec.keeps_priorities
        )
    for given, one in zip(wanted, settled, strict=True):
        tell_release(given.setup, one.setup, files.nodes, f"--{one.name}: ")
    scenario = _with_server_notice(scenario, list(by_nodes.values()))
    tell_edits(scenario)
    engines = {one.name: one.engine(scenario.config_maps) for one in settled}
    texts = {one.name: one.text for one in wanted}
    asked = [one.setup.release for one in wanted]
    return ComparisonInput.of(
        scenario,
        engines,
        texts,
        by_nodes=list(by_nodes),
        asked=asked,
        order=options.order,
        strict=options.strict,
    )


OPENERS: Mapping[str, Callable[[Sequence[Path], Any], Any]] = {
    "compare": contestants,
    "upgrade": scenario_of_default,
    "sweep": lambda paths, options: paths[0],
    "policycheck": lambda paths, options: paths[0],
    "replay": lambda paths, options: None,
    "conform": lambda paths, options: None,
}
"""Question -> what opens its input, where that is not :func:`opened`."""
