"""What ``kubeclassic bench`` times: from the options to cases, each with its release and configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import click

from ....algorithmprovider.releases import DEFAULT_RELEASE
from ....api.reading.documents import read_documents
from ....exceptions import KubeclassicError, UnknownNameError
from ....framework.config.configuration import KIND, load_configuration
from ....framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release
from ....simulation.bench import bench as timing
from ....simulation.bench.cases import CaseSize
from ...console.output import note

Json = dict[str, Any]
PERCENTAGE = "percentageOfNodesToScore"


@attrs.frozen(kw_only=True)
class BenchOptions:
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
    against: str | None
    form: str
    output: str | None
    flame_graph: Path | None
    verbose: bool

    @property
    def shape(self) -> CaseSize:
        """The cluster to generate."""
        return CaseSize(kind=self.kind or "basic", nodes=self.nodes, existing=self.existing, pods=self.pods, templates=self.templates)


# --- older forms ----------------------------------------------------------------------------------------------------


def in_todays_words(asked: BenchOptions) -> BenchOptions:
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


def problem(asked: BenchOptions) -> Json:
    """The case to time."""
    if (asked.case is None) == (asked.kind is None):
        raise click.UsageError("wanted either a CASE or --kind")
    release = _version(asked.release, asked.profile)
    default = release or DEFAULT_RELEASE
    found = asked.shape.case(default) if asked.case is None else timing.read_case(asked.case, default)
    found = found if release is None else _with_release(found, release)
    return found | {"config": _config(found.get("config") or {}, asked)}


def _config(config: dict[str, Any], asked: BenchOptions) -> dict[str, Any]:
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
