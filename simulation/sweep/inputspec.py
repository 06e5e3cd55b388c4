"""What a sweep schedules: clusters, once, and traces, over virtual time. Each is read once, whatever the number of runs."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from ...api.cluster import Cluster
from ...exceptions import ManifestError
from ..input import GivenCluster, objects_of, parts_of, paths_among, scenario_of
from ..replay.inputs.inputs import InputOptions, Inputs, read_inputs
from ..replay.inputs.times import DURATION, parse_duration
from ..replay.inputs.traces import Reading
from ..replay.settings import Delays
from ..scenario import Files, Scenario, parsed_edits
from .axes import check_keys, refuse

CLUSTER_KEYS = ("cluster", "pods", "cron-jobs")
TIMES = ("until", "run-time")
FLAGS = ("ignore-times", "as-recorded", "recreate")
TRACE_KEYS = ("trace", *TIMES, "compress-time", *FLAGS, "delays")


@attrs.define(slots=False, repr=False)
class ClusterInput:
    """Pods that wait in a cluster, as ``simulate`` takes them."""

    cluster: GivenCluster
    pods: GivenCluster = ()
    cron_jobs: bool = False
    is_trace = False

    @cached_property
    def _files(self) -> Files | None:
        """What the files hold; None if some parts are no files."""
        if isinstance(self.cluster, Cluster) or isinstance(self.pods, Cluster):
            return None
        parts = [*parts_of("cluster", self.cluster), *parts_of("pods", self.pods)]
        paths = [part for part in parts if isinstance(part, str | os.PathLike)]
        return Files.read(paths) if len(paths) == len(parts) else None

    def load(self, names: Collection[str], priorities: bool, edits: Sequence[str] = ()) -> Scenario:
        """The scenario for schedulers of these *names*; *priorities*: whether gate PodPriority is on.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError`.
        """
        files = self._files
        if files is None:
            return scenario_of(self.cluster, self.pods, scheduler_names=names, edits=edits, priorities=priorities)
        parsed = parsed_edits(edits, True)
        if parsed is not None:
            (loaded,), edited = parsed.of_loaded([files.loaded])
            files = Files(loaded, True, parsed, tuple(edited))
        return files.scenario(names, cron_jobs=self.cron_jobs, priorities=priorities)


@attrs.define(repr=False)
class TraceInput:
    """What comes and goes over virtual time, as ``replay`` takes it."""

    trace: GivenCluster
    until: float | None = None
    compress: float = 1.0
    reading: Reading = attrs.field(factory=Reading)
    recreate: bool = True
    delays: Delays = attrs.field(factory=Delays)
    is_trace = True

    def load(self, names: Collection[str], priorities: bool, edits: Sequence[str] = ()) -> Inputs:
        """The events. Raises :class:`~kubeclassic.exceptions.KubeclassicError`."""
        if edits:
            raise ManifestError(f"set: got {edits[0]!r} for a trace, wanted a cluster")
        choice = InputOptions(
            reading=self.reading, compress=self.compress, priorities=priorities, scheduler_names=frozenset(names)
        )
        return read_inputs(paths_among("trace", self.trace), choice, objects=objects_of("trace", self.trace, defaults=True))


InputSpec = ClusterInput | TraceInput


# --- reading --------------------------------------------------------------------------------------------------------


def read_input(given: Any, where: str, folder: Path) -> InputSpec:
    """An entry of ``inputs``; its paths are relative to *folder*. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    if isinstance(given, Mapping) and "trace" in given:
        return _trace(check_keys(where, given, TRACE_KEYS), where, folder)
    checked = check_keys(where, given, CLUSTER_KEYS)
    if "cluster" not in checked:
        refuse(where, sorted(checked), "cluster or trace")
    cluster, pods = (_placed(checked.get(key, ()), f"{where}: {key}", folder) for key in ("cluster", "pods"))
    return ClusterInput(cluster, pods, _flag(checked, "cron-jobs", where))


def _trace(given: Mapping[str, Any], where: str, folder: Path) -> TraceInput:
    until, run_time = (_seconds(given.get(key), f"{where}: {key}") for key in TIMES)
    ignores, as_recorded, recreate = (_flag(given, key, where, key == "recreate") for key in FLAGS)
    compress = given.get("compress-time", 1.0)
    if isinstance(compress, bool) or not isinstance(compress, int | float) or compress <= 0:
        refuse(f"{where}: compress-time", compress, "a number above 0")
    names = [field.name for field in attrs.fields(Delays)]
    written = check_keys(f"{where}: delays", given.get("delays", {}), names)
    delays = Delays(**{name: _seconds(value, f"{where}: delays.{name}") or 0.0 for name, value in written.items()})
    reading = Reading(ignore_times=ignores, as_recorded=as_recorded, run_time=run_time)
    return TraceInput(_placed(given["trace"], f"{where}: trace", folder), until, float(compress), reading, recreate, delays)


def _placed(given: Any, where: str, folder: Path) -> GivenCluster:
    """*given* with paths as seen from the current folder; they must exist."""
    if isinstance(given, Cluster):
        return given
    try:
        parts = parts_of("cluster", given)
    except TypeError:
        refuse(where, given, "a path or a list of paths")
    if not parts and where.endswith((": cluster", ": trace")):
        refuse(where, list(parts), "a path at least")
    return [_there(part, where, folder) if isinstance(part, str | os.PathLike) else part for part in parts]


def _there(part: str | os.PathLike[str], where: str, folder: Path) -> str:
    place = folder / part
    if not os.path.exists(place):
        refuse(where, os.fspath(part), f"a file or a folder: there is none at {place}")
    return str(place)


def _flag(given: Mapping[str, Any], key: str, where: str, default: bool = False) -> bool:
    value = given.get(key, default)
    if not isinstance(value, bool):
        refuse(f"{where}: {key}", value, "true or false")
    return value


def _seconds(written: Any, where: str) -> float | None:
    found = None if written is None else parse_duration(written)
    if written is not None and found is None:
        refuse(where, written, DURATION)
    return found
