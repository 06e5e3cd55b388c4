"""The file of a sweep: what is scheduled, the grid, the objectives. Errors say where in the file."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn

import attrs

from ...algorithmprovider.cells import TIE_BREAKS
from ...api.cluster import Cluster
from ...api.meaning import zone_of
from ...api.objects import JsonObject, Node, Pod
from ...api.reading import PathLike, only_document, shown
from ...core.pods import PODS
from ...exceptions import ManifestError, check_type, did_you_mean, one_line
from ...framework.options import FIELDS, declared_of
from ...simulation.input import GivenCluster, edits_of, parts_of
from ...simulation.nodesbyuse import fragmentation, summarise
from ...simulation.simulate import ORDERS, Simulation
from ..replay.replay import Replay
from ..replay.simulatedcluster import PERCENTILES
from ..replay.times import DURATION, parse_duration

COUNTS = ("pods", "placed", "unschedulable", "gated", "waiting", "evictions")
OF_ALL = ("fragmentation", "imbalance", "zone skew")
OF_WAITING = ("waiting mean", "waiting p50", "waiting p90", "waiting p95", "waiting p99", "waiting max")
OF_A_RESOURCE = ("used", "fragmentation", "imbalance")
"""Objectives that follow the name of a resource, as in ``cpu used``."""
OF_CLUSTERS = ("placed", "cpu used", "memory used", "fragmentation", "imbalance", "zone skew", "evictions")
OF_TRACES = ("placed", "cpu used", "memory used", "zone skew", "evictions", "waiting p50", "waiting p99")
"""The default objectives."""
NAMES = (*COUNTS, *OF_ALL, *OF_WAITING)
WANTED = f"{', '.join(NAMES)}, or a resource and {', '.join(OF_A_RESOURCE[:-1])} or {OF_A_RESOURCE[-1]}, such as cpu used"

Measures = Mapping[str, Any]
"""Objective -> its value in one run; None where there is nothing to measure."""


# The measures of runs: the objectives, their values in one run, and the best configurations over seeds.


def is_objective(name: object) -> bool:
    """Whether *name* is an objective.

    >>> [is_objective(name) for name in ("placed", "nvidia.com/gpu used", "used", "cpu free")]
    [True, True, False, False]
    """
    if not isinstance(name, str):
        return False
    resource, _, what = name.rpartition(" ")
    return name in NAMES or (bool(resource) and " " not in resource and what in OF_A_RESOURCE)


def more_is_better(name: str) -> bool | None:
    """The direction of an objective that most people call better; None for one without.

    >>> more_is_better("placed"), more_is_better("cpu fragmentation"), more_is_better("pods")
    (True, False, None)
    """
    return None if name == "pods" else name == "placed" or name.endswith(" used")


KNOWN = (*NAMES, *(f"{resource} {what}" for resource in ("cpu", "memory", "pods") for what in OF_A_RESOURCE))
"""Names to suggest for a wrong one."""


# --- one run ------------------------------------------------------------------------------------------------


DIGITS = 6
EXACT = 15
"""Digits of the values that means are made of."""


def simulation_measures(simulation: Simulation) -> Measures:
    """The measures of a finished simulation."""
    summary = summarise(simulation, digits=EXACT)
    scenario = simulation.scenario
    outcomes = simulation.outcomes
    shares = fragmentation(simulation.engine, scenario.pending)
    # The pods that have a node at the end, with their nodes.
    running = (
        item
        for item in scenario.objects
        if isinstance(item, Pod) and item.key not in {**simulation.evicted, **outcomes}
    )
    hosts = [(pod, pod.spec.node_name) for pod in running]
    hosts += [(outcome.pod, outcome.host) for outcome in outcomes.values() if outcome.host is not None]
    measures = {
        "pods": summary.pods,
        "placed": summary.placed,
        "unschedulable": summary.unschedulable,
        "gated": summary.gated,
        "waiting": summary.waiting,
        "evictions": summary.evicted,
        "fragmentation": _mean(shares.values()),
        "imbalance": _mean(
            usage.imbalance.standard_deviation for usage in summary.resources if usage.resource != PODS
        ),
        "zone skew": zone_skew(scenario.nodes, hosts),
    }
    for usage in summary.resources:
        measures[f"{usage.resource} used"] = round(usage.use, DIGITS)
        measures[f"{usage.resource} imbalance"] = round(usage.imbalance.standard_deviation, DIGITS)
    return {**measures, **{f"{name} fragmentation": share for name, share in shares.items()}}


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), DIGITS) if numbers else None


# --- zones --------------------------------------------------------------------------------------------------


def zone_skew(nodes: Iterable[Node], hosts: Iterable[tuple[Pod, str]]) -> float | None:
    """The skew of an owner's pods over the zones: the most in a zone minus the fewest, on average over owners
    of two pods or more.

    *hosts*: the pods that have a node, with it. None with fewer than two zones, or without such owners.
    """
    zones = {node.name: zone for node in nodes if (zone := zone_of(node.labels))}
    owned = dict[Any, Counter[str]]()
    for pod, host in hosts:
        owner = pod.controller
        if owner is not None and host in zones:
            counts = owned.setdefault(
                (pod.namespace, owner.kind, owner.name), Counter(dict.fromkeys(zones.values(), 0))
            )
            counts[zones[host]] += 1
    if len(set(zones.values())) < 2:
        return None
    return _mean(
        max(counts.values()) - min(counts.values()) for counts in owned.values() if counts.total() > 1
    )


def replay_measures(replay: Replay) -> Measures:
    """The measures of a replay that is over.

    ``placed`` counts how often a pod got a node; use is averaged over time, zone skew is measured at the end.
    """
    tally = replay.cluster.tally
    ledger = replay.cluster.ledger
    waits = tally.wait_record()
    hosts = [(life.original, life.node) for life in replay.pods.all.values() if life.node]
    return {
        "pods": tally.events["Arrived"],
        "placed": tally.events["Scheduled"],
        "unschedulable": ledger.waiting_pods + tally.never_scheduled,
        "evictions": tally.evicted,
        "zone skew": zone_skew(replay.engine.nodes(), hosts),
        **{f"{name} used": share for name, share in tally.mean_use(ledger.resources).items()},
        **{
            f"waiting {name}": waits.get(name)
            for name in ("mean", *(f"p{share}" for share in PERCENTILES), "max")
        },
    }


# --- configurations -----------------------------------------------------------------------------------------


Row = Mapping[str, Any]
SPOKEN = ("name", "release", "policy", "profile", "provider", "order")
"""Settings whose values say by themselves what they are."""


@attrs.frozen
class SweepConfiguration:
    """A configuration to compare, with the mean of each objective over its seeds."""

    name: str
    values: Mapping[str, float]


@attrs.frozen
class Best:
    """The configurations that are best in an objective, and their value."""

    objective: str
    value: float
    names: tuple[str, ...]


def configurations(
    rows: Sequence[Row], settings: Sequence[str], objectives: Sequence[str]
) -> list[SweepConfiguration]:
    """Each configuration that has a run without an error."""
    kept = [key for key in settings if key != "seed"]
    groups = dict[tuple[str, ...], list[Row]]()
    for row in rows:
        if row["error"] is None:
            groups.setdefault(tuple(repr(row.get(key)) for key in kept), []).append(row)
    names = short_names([{key: group[0].get(key) for key in kept} for group in groups.values()])
    compared = []
    for name, group in zip(names, groups.values(), strict=True):
        values = {
            objective: [row[objective] for row in group if row[objective] is not None]
            for objective in objectives
        }
        compared.append(
            SweepConfiguration(
                name, {objective: round(fmean(runs), DIGITS) for objective, runs in values.items() if runs}
            )
        )
    return compared


def best_of(compared: Sequence[SweepConfiguration], objectives: Sequence[str]) -> list[Best]:
    """The best configurations by objective, for objectives in which they differ and that have a better
    direction."""
    answer = []
    for objective in objectives:
        values = [
            configuration.values[objective] for configuration in compared if objective in configuration.values
        ]
        more = more_is_better(objective)
        if more is None or len(set(values)) < 2:
            continue
        best = max(values) if more else min(values)
        answer.append(
            Best(
                objective,
                best,
                tuple(
                    configuration.name
                    for configuration in compared
                    if configuration.values.get(objective) == best
                ),
            )
        )
    return answer


def short_names(rows: Sequence[Row]) -> list[str]:
    """A name for each row: the settings that tell them apart, and no more.

    >>> short_names([{"name": "spread", "release": "1.14", "policy": None}, {"name": "pack", "release": "1.14", "policy": "p.yaml"}])
    ['spread', 'pack']
    >>> short_names([{"release": "1.14", "seed": 1}, {"release": "1.16", "seed": 1}])
    ['1.14', '1.16']
    """
    kept = list[str]()
    groups = 1
    for key in rows[0] if rows else ():
        several = len({tuple(str(row[name]) for name in (*kept, key)) for row in rows})
        if several > groups:
            kept.append(key)
            groups = several
    names = []
    for at, row in enumerate(rows, 1):
        words = []
        for key in kept:
            text = "none" if row[key] is None else str(cell(row[key]))
            words.append(
                text if key in SPOKEN and row[key] is not None else f"{key.removeprefix('weights.')} {text}"
            )
        names.append(", ".join(words) or f"configuration {at}")
    return names


def cell(value: Any) -> Any:
    """*value* as one cell: lists as text, true and false as in YAML."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value


SECTIONS = ("cluster", "pods", "trace", "until", "grid", "runs", "objectives")
NAME = "name"
SEED = "seed"
ORDER = "order"
EDITS = "set"
SHUFFLED = "shuffled"
WEIGHT = "weights."
"""The beginning of the keys of weights, as in ``weights.LeastRequestedPriority``."""
FILES = ("policy", "profile", "config")
"""Keys whose values are files."""
RULES = "rules"
"""The key of a user's own rules."""
_LONGEST = 100
"""The most characters of a list or an object that is shown as it is."""


# --- what can vary ------------------------------------------------------------------------------------------


Axis = tuple[str, Callable[[Any], bool]]
"""The values of a key: what they must be, in words, and the test that they are."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _whole(least: int, most: int) -> Axis:
    return (
        f"a whole number from {least} to {most}",
        lambda value: type(value) is int and least <= value <= most,
    )


def _one_of(*names: str) -> Axis:
    return f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names


def _or_null(expected: str, holds: Callable[[Any], bool]) -> Axis:
    return f"{expected}, or null for none", lambda value: value is None or holds(value)


def _are_edits(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, list) and bool(value) and all(map(_is_text, value)))


_SWITCH = ("true or false", lambda value: isinstance(value, bool))
_WORDS = {
    "file": _or_null("a file", lambda value: _is_text(value) or isinstance(value, os.PathLike)),
    "flag": _SWITCH,
    "no-flag": _SWITCH,
    "whole": _whole(0, 2**63 - 1),
    "positive": _whole(1, 2**63 - 1),
    "bytes": _whole(0, 2**63 - 1),
    "choice": _one_of(*TIE_BREAKS),
    "places": _or_null("a place such as FILE.py:NAME, or a list of them", _are_edits),
}
"""Form of an option's value (``takes``) -> its axis; the values of other options are texts."""
_KEYS = {declared_of(field).key or name.replace("_", "-"): name for name, field in FIELDS.items()}
OPTIONS = {key: name for key, name in _KEYS.items() if declared_of(FIELDS[name]).flags}
"""Key -> the option of :class:`~kubeclassic.Scheduler` that it sets."""
AXES: Mapping[str, Axis] = {
    **{
        key: _WORDS.get(declared_of(FIELDS[name]).takes, _or_null("a text", _is_text))
        for key, name in OPTIONS.items()
    },
    "release": ('a text such as "1.16"', _is_text),
    "provider": _or_null("a name such as DefaultProvider", _is_text),
    "feature-gates": _or_null("a text such as EvenPodsSpread=true", _is_text),
    "percentage": _whole(0, 100),
    "hard-pod-affinity-weight": _whole(0, 100),
    ORDER: _one_of(*ORDERS, SHUFFLED),
    EDITS: _or_null('an edit such as "pod web/* requests.cpu=500m", or a list of them', _are_edits),
}
"""Key -> its values; ``weights.NAME`` comes on top of these."""
KEYS = (*AXES, f"{WEIGHT}NAME")


# --- the file -----------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Spec:
    """A sweep as it was asked for. Each of *runs* is combined with each point of *grid*."""

    cluster: GivenCluster
    pods: GivenCluster
    """More pending pods."""
    trace: GivenCluster
    """The input of a replay over virtual time, in place of a cluster."""
    until: float | None
    """When a trace stops, in virtual seconds."""
    grid: Mapping[str, tuple[Any, ...]]
    runs: tuple[JsonObject, ...]
    """Settings by key, and their ``name``."""
    objectives: tuple[str, ...]
    folder: Path
    """The folder to which the paths of policies and other files are relative."""

    def files(self) -> Iterator[str]:
        """The files and folders that its runs read."""
        for given in (self.cluster, self.pods, self.trace):
            yield from (part for part in parts_of("cluster", given) if isinstance(part, str))
        settings = [*self.grid.items(), *((key, [value]) for run in self.runs for key, value in run.items())]
        for key, values in settings:
            for value in filter(None, values):
                if key in FILES:
                    yield str(self.folder / value)
                elif key == RULES:
                    yield from (str(self.folder / place.rpartition(":")[0]) for place in edits_of(value))
                elif key == "extenders" and value.startswith("replay "):
                    yield value.partition(" ")[2]


def read_spec(source: PathLike | JsonObject | Spec) -> Spec:
    """The sweep in a file, whose paths are relative to its folder, or in the same form as a dict.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says where, what was expected and what was
    given.
    """
    if isinstance(source, Spec):
        return source
    if isinstance(source, Mapping):
        return _Reader(source, "sweep", Path()).spec()
    check_type("spec", source, (str, os.PathLike), "a path or a dict")
    document = only_document(source, f"with {', '.join(SECTIONS)}")
    if document.repeated:
        raise ManifestError(f"{source}: {document.repeated[0]}: expected once, got twice")
    return _Reader(document.data, os.fspath(source), Path(source).parent).spec()


@attrs.frozen(repr=False)
class _Reader:
    data: JsonObject
    where: str
    folder: Path

    def refuse(self, path: str, value: Any, expected: str, hint: str = "") -> NoReturn:
        """Raise the error that *path* has *value*."""
        kind, stop, reason = expected.partition(": ")
        text = json.dumps(value, default=repr) if isinstance(value, list | tuple | dict) else ""
        value_text = text if 0 < len(text) <= _LONGEST else shown(value)
        raise ManifestError(
            f"{self.where}{path and f': {path}'}: expected {kind}, got {value_text}{stop}{reason}{hint}"
        )

    def spec(self) -> Spec:
        data = self.data
        if not isinstance(data, Mapping):
            self.refuse("", data, f"an object with {', '.join(SECTIONS)}")
        for key in data:
            if key not in SECTIONS:
                self.refuse("", key, f"one of {', '.join(SECTIONS)}", did_you_mean(str(key), SECTIONS))
        if ("cluster" in data) == ("trace" in data):
            self.refuse("", list(data), "either cluster or trace: what is scheduled")
        for key, needed in (("pods", "cluster"), ("until", "trace")):
            if key in data and needed not in data:
                self.refuse(key, data[key], f"{needed} too")
        axes = data.get("grid", {})
        grid = dict[str, tuple[Any, ...]]()
        if not isinstance(axes, Mapping):
            self.refuse("grid", axes, "an object with a value or a list of values for each key")
        for key, values in axes.items():
            listed = values if isinstance(values, list | tuple) else [values]
            if not listed:
                self.refuse(f"grid.{key}", listed, "a value at least")
            grid[key] = tuple(
                self._value("grid", key, f".{key}[{number}]", value) for number, value in enumerate(listed)
            )
            for number, value in enumerate(grid[key]):
                if value in grid[key][:number]:
                    self.refuse(f"grid.{key}[{number}]", listed[number], "each value once")
        runs = self._runs(grid)
        cluster, pods, trace = (self._paths_at(key) for key in ("cluster", "pods", "trace"))
        until = data.get("until")
        seconds = None if until is None else parse_duration(until)
        if until is not None and seconds is None:
            self.refuse("until", until, DURATION)
        objectives = data.get("objectives", OF_TRACES if "trace" in data else OF_CLUSTERS)
        listed = objectives if isinstance(objectives, list | tuple) else [objectives]
        for number, name in enumerate(listed):
            if not is_objective(name):
                self.refuse(f"objectives[{number}]", name, WANTED, did_you_mean(str(name), KNOWN))
        if not listed or len(set(listed)) < len(listed):
            self.refuse("objectives", list(listed), "one objective at least, each once")
        return Spec(cluster, pods, trace, seconds, grid, runs, tuple(listed), self.folder)

    def _paths_at(self, key: str) -> GivenCluster:
        """The cluster at *key*, with paths as seen from the current folder; they must exist."""
        value = self.data.get(key, ())
        places = list[Any]()
        if isinstance(value, Cluster):
            return value
        try:
            parts = parts_of("cluster", value)
        except TypeError:
            self.refuse(key, value, "a path or a list of paths")
        if key in self.data and not parts:
            self.refuse(key, list(parts), "a path at least")
        for part in parts:
            if isinstance(part, str | os.PathLike):
                place = self.folder / part
                if not os.path.exists(place):
                    self.refuse(key, os.fspath(part), f"a file or a folder: there is none at {place}")
                places.append(str(place))
            else:
                places.append(part)
        return places

    def _runs(self, grid: JsonObject) -> tuple[JsonObject, ...]:
        runs = self.data.get("runs", [])
        checked = list[JsonObject]()
        if not isinstance(runs, list | tuple):
            self.refuse("runs", runs, "a list of objects such as {name: today, policy: policy.yaml}")
        for number, run in enumerate(runs):
            path = f"runs[{number}]"
            if not isinstance(run, Mapping) or not _is_text(run.get(NAME)):
                self.refuse(path, run, "an object with a name, such as {name: today, policy: policy.yaml}")
            if run[NAME] in (earlier[NAME] for earlier in checked):
                self.refuse(f"{path}.name", run[NAME], "a name of its own")
            for key in run:
                if key in grid:
                    self.refuse(path, key, f"a key that is not in the grid too: {key} is")
            checked.append(
                {
                    key: value if key == NAME else self._value(path, key, f".{key}", value)
                    for key, value in run.items()
                }
            )
        return tuple(checked)

    def _value(self, parent: str, key: Any, step: str, value: Any) -> Any:
        axis = _whole(0, 1_000_000_000) if str(key).startswith(WEIGHT) and key != WEIGHT else AXES.get(key)
        if axis is None:
            self.refuse(parent, key, f"one of {', '.join(KEYS)}", did_you_mean(str(key), KEYS))
        expected, holds = axis
        if not holds(value):
            self.refuse(parent + step, value, expected)
        if key in FILES and value is not None and not os.path.isfile(self.folder / value):
            self.refuse(
                parent + step, str(value), f"a file: there is none at {one_line(str(self.folder / value))}"
            )
        if key == "extenders" and value is not None:
            how, _, file = str(value).partition(" ")
            if how == "record":
                self.refuse(parent + step, value, "off, call or replay FILE, as each run would record anew")
            if how == "replay" and file.strip():
                return f"{how} {self.folder / file.strip()}"
        return str(value) if isinstance(value, os.PathLike) else value
