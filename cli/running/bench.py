"""What ``kubeclassic bench`` does: it times a case or a generated cluster, checks its hosts and draws a flame graph."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import click

from ...algorithmprovider.releases import DEFAULT_RELEASE
from ...api.reading.documents import read_documents
from ...exceptions import KubeclassicError, UnknownNameError
from ...framework.config.configuration import KIND, load_configuration
from ...framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release
from ...live.extenders.choice import ConfiguredExtenders
from ...simulation.bench import bench as timing
from ...simulation.bench.cases import Shape
from ..console.output import note, writing
from ..declaring.memory import engine_options
from ..report.documents import document

PERCENTAGE = "percentageOfNodesToScore"


class MissingExtra(KubeclassicError):
    """An option needs a package that is not installed."""


@attrs.frozen(kw_only=True)
class Asked:
    """The options, as they were given."""

    case: Path | None
    kind: str | None
    nodes: int
    existing: int | None
    pods: int
    templates: int
    release: str | None
    profile: Path | None
    scheduler_profile: Path | None
    percentage: int | None
    disable_preemption: bool
    extenders: str | None
    memory: int | None
    no_memory: bool
    repeat: int
    check: Path | None
    output: str | None
    flame_graph: Path | None
    verbose: bool

    @property
    def shape(self) -> Shape:
        """The cluster to generate."""
        return Shape(kind=self.kind or "basic", nodes=self.nodes, existing=self.existing, pods=self.pods, templates=self.templates)


def run(asked: Asked) -> None:
    """Time what is asked for, print the best run, and end with status 1 where a host is another than expected."""
    asked = _in_todays_words(asked)
    profiler = _profiler() if asked.flame_graph else None
    started = time.process_time()
    problem = _problem(asked, _version(asked.release, asked.profile))
    wanted = None if asked.check is None else timing.read_hosts(asked.check, problem["version"])
    read_seconds = time.process_time() - started
    options = {**engine_options(asked.memory, asked.no_memory), "extenders": ConfiguredExtenders(asked.extenders)}
    best = max((timing.time_once(problem, options) for _ in range(asked.repeat)), key=lambda found: found.rate)
    _print(problem, best, read_seconds, asked.output)
    for line in best.quick.lines() if asked.verbose else ():
        note(line)
    if asked.flame_graph is not None:
        timing.profiled(problem, options, profiler)
        with writing(asked.flame_graph) as stream:
            stream.write(_rendered(profiler, asked.flame_graph))
    if wanted is not None:
        _verify(best, *wanted)


# --- older forms ----------------------------------------------------------------------------------------------------


def _in_todays_words(asked: Asked) -> Asked:
    """The same with --profile for a configuration alone: it meant a flame graph too, and --scheduler-profile was its other name."""
    if asked.profile is not None and not _is_configuration(asked.profile):
        _once("--profile", asked.profile, "--flame-graph", asked.flame_graph)
        asked = attrs.evolve(asked, profile=None, flame_graph=asked.profile)
    if asked.scheduler_profile is not None:
        _once("--scheduler-profile", asked.scheduler_profile, "--profile", asked.profile)
        asked = attrs.evolve(asked, profile=asked.scheduler_profile, scheduler_profile=None)
    return asked


def _once(old: str, path: Path, new: str, other: Path | None) -> None:
    if other is not None:
        raise click.UsageError(f"{old}: got {path} beside {new} {other}, wanted one of them")
    note(f"note: {old} is {new} now; write {new} {path}")


def _is_configuration(path: Path) -> bool:
    """Whether *path* is meant as a configuration: only a page, or JSON of another kind, can be meant as a flame graph."""
    if path.suffix == ".html":
        return False
    if path.suffix != ".json":
        return True
    try:
        return path.is_file() and [document.data.get("kind") for document in read_documents(path)] == [KIND]
    except KubeclassicError:
        return False


# --- what is timed --------------------------------------------------------------------------------------------------


def _version(release: str | None, profile: Path | None) -> str | None:
    """The wanted release, if any; with a profile alone, the one that has profiles."""
    if release is None:
        return None if profile is None else DEFAULT_FRAMEWORK
    version = find_any_release(release).version
    if profile is not None and version not in FRAMEWORK_RELEASES:
        raise UnknownNameError(f"--profile: got {profile}, which release {version} does not have, wanted --release {DEFAULT_FRAMEWORK}")
    return version


def _problem(asked: Asked, release: str | None) -> dict[str, Any]:
    if (asked.case is None) == (asked.kind is None):
        raise click.UsageError("wanted either a CASE or --kind")
    default = release or DEFAULT_RELEASE
    found = asked.shape.case(default) if asked.case is None else timing.read_case(asked.case, default)
    if release is not None:
        found = _with_release(found, release)
    return found | {"config": _config(found.get("config") or {}, asked)}


def _config(config: dict[str, Any], asked: Asked) -> dict[str, Any]:
    """The case's *config*, and over it what the options say."""
    changes: dict[str, Any] = {"preemption": False} if asked.disable_preemption else {}
    profile = config.get("profile")
    if asked.profile is not None:
        load_configuration(asked.profile)
        profile = next(iter(read_documents(asked.profile))).data
    if asked.percentage is not None:
        changes[PERCENTAGE] = asked.percentage
        profile = profile and _with_percentage(profile, asked.percentage)
    return config | changes | ({"profile": profile} if profile else {})


def _with_percentage(configuration: Mapping[str, Any], percentage: int) -> dict[str, Any]:
    """A configuration whose profiles all have this share."""
    profiles = [{key: value for key, value in profile.items() if key != PERCENTAGE} for profile in configuration.get("profiles") or ()]
    return {**configuration, PERCENTAGE: percentage} | ({"profiles": profiles} if profiles else {})


def _with_release(case: dict[str, Any], release: str) -> dict[str, Any]:
    """A case of any release, changed to *release*, without the gates that this one does not know."""
    config, gates = case.get("config") or {}, find_any_release(release).gates
    kept = {name: value for name, value in (config.get("featureGates") or {}).items() if name in gates}
    left_out = [name for name in config.get("featureGates") or {} if name not in kept]
    if left_out:
        note(f"left out, as release {release} has no such gates: {', '.join(left_out)}")
    return case | {"version": release, "config": {**config, "featureGates": kept}}


def _print(problem: dict[str, Any], best: timing.Timing, read_seconds: float, output: str | None) -> None:
    record = {"case": problem["name"], "release": problem["version"], **best.record()}
    record["load_seconds"] = round(record["load_seconds"] + read_seconds, 3)
    with nullcontext() if output is None else writing(output) as stream:
        record["write_seconds"] = round(timing.seconds_to_write(best, stream), 4)
    record |= {"peak_rss_mb": timing.peak_rss_mb(), "calibration": timing.calibration()}
    click.echo(json.dumps(document("Bench", record)))


def _verify(best: timing.Timing, pods: list[str], hosts: list[str | None]) -> None:
    found = list(timing.differing(best, pods, hosts))
    if found:
        note(f"{len(found)} of {len(pods)} pods have another host, the first: {found[0]}")
        sys.exit(1)
    note(f"all {len(pods)} hosts are as expected")


# --- flame graphs ---------------------------------------------------------------------------------------------------


def _profiler() -> Any:
    try:
        return import_module("pyinstrument").Profiler(interval=0.0005)
    except ImportError:
        raise MissingExtra("--flame-graph: got no pyinstrument, wanted it installed: pip install 'kubeclassic[bench]'") from None


def _rendered(profiler: Any, path: Path) -> str:
    renderers = import_module("pyinstrument.renderers")
    renderer = renderers.SpeedscopeRenderer() if path.suffix == ".json" else renderers.HTMLRenderer()
    return str(profiler.output(renderer))
