"""Time workload files of upstream's scheduler_perf: test cases of operations, run on this scheduler. README.md says what each does here.

No API server and no clock is there. An operation that waits, waits until all pods so far were decided. A decision counts as one
millisecond of virtual time, by which churn goes on; ``sleep`` lets virtual time pass.

Upstream: test/integration/scheduler_perf/scheduler_perf_test.go
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs
import click

from kubeclassic.api.controlplane.defaults import with_defaults
from kubeclassic.api.meaning.durations import parse_duration
from kubeclassic.api.objects import KINDS, KubeObject, Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.api.reading.documents import only_document, parsed
from kubeclassic.api.record import plain
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.run import Run
from kubeclassic.exceptions import KubeclassicError, ManifestError
from kubeclassic.framework.config.configuration import KIND
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK, find_any_release
from kubeclassic.simulation.bench.bench import calibration
from kubeclassic.simulation.bench.measured import Timing
from kubeclassic.simulation.conform import build
from kubeclassic.simulation.gcpause import settled

Json = dict[str, Any]
Event = tuple[str, Json]

ADD, DELETE, SCHEDULE = "add", "delete", "schedule"
HOSTNAME = "kubernetes.io/hostname"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
STRATEGIES = ("nodeAllocatableStrategy", "labelNodePrepareStrategy", "uniqueNodeLabelStrategy")
_VOLUMES = ("persistentVolumeTemplatePath", "persistentVolumeClaimTemplatePath")
OPS: Mapping[str, Sequence[str]] = {
    "createNodes": ("count", "nodeTemplatePath", *STRATEGIES),
    "createNamespaces": ("count", "prefix", "namespaceTemplatePath"),
    "createPods": ("count", "collectMetrics", "namespace", "podTemplatePath", "skipWaitToCompletion", *_VOLUMES),
    "createPodSets": ("count", "namespacePrefix", "createPodsOp"),
    "churn": ("mode", "number", "intervalMilliseconds", "namespace", "templatePaths"),
    "barrier": ("namespaces",),
    "sleep": ("duration",),
}
"""Opcode -> its fields besides ``opcode``; count and duration may be parameters."""
_SIZE = {"cpu": "100m", "memory": "500Mi"}
_CONTAINER = {"name": "pause", "image": "pause", "ports": [{"containerPort": 80}], "resources": {"limits": _SIZE, "requests": _SIZE}}
_CAPACITY = {"pods": "110", "cpu": "4", "memory": "32Gi"}
DEFAULTS: Mapping[str, Json] = {
    "Node": {"kind": "Node", "status": {"capacity": _CAPACITY, "conditions": [{"type": "Ready", "status": "True"}]}},
    "Pod": {"kind": "Pod", "metadata": {"generateName": "pod-"}, "spec": {"containers": [_CONTAINER]}},
    "Namespace": {"kind": "Namespace"},
}
"""Kind -> the object where no template is named."""


# --- files ----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Workload:
    """One workload of a test case."""

    name: str
    """``TestCase/Workload``, as upstream reports it."""
    case: Mapping[str, Any]
    fields: Mapping[str, Any]
    file: Path

    def operations(self) -> list[Json]:
        """The operations in order, with the parameters in place. One of createPodSets is one of createPods for each namespace."""
        params, used = self.fields.get("params") or {}, set[str]()
        found = []
        for number, step in enumerate(self.case["workloadTemplate"]):
            op = _operation(step, params, used, f"{self.file}, {self.name}, workloadTemplate[{number}]")
            if op["opcode"] == "createPodSets":
                inner = {**op["createPodsOp"], "where": op["where"]}
                found += [{**inner, "namespace": f"{op['namespacePrefix']}-{place}"} for place in range(op["count"])]
            else:
                found.append(op)
        if unused := [name for name in params if name not in used]:
            raise ManifestError(f"{self.file}, {self.name}: got params {', '.join(unused)}, which no operation uses")
        return found

    def timeline(self) -> Timeline:
        """What happens when."""
        folders = (self.file.parent, self.file.parent.parent)
        timeline = Timeline(Maker(folders, self.case.get("defaultPodTemplatePath")))
        for number, op in enumerate(self.operations()):
            timeline.take(op, number)
        if not any(phase.counted for phase in timeline.phases):
            raise ManifestError(f"{self.file}, {self.name}: got no pods with collectMetrics, wanted some to measure")
        return timeline

    def config(self, release: str) -> Json:
        """The configuration of *release*, without the gates that it does not know."""
        gates = {**(self.case.get("featureGates") or {}), **(self.fields.get("featureGates") or {})}
        known = find_any_release(release).gates
        kept = {name: value for name, value in gates.items() if name in known}
        config: Json = {"featureGates": kept, "percentageOfNodesToScore": 0, "preemption": True}
        path = self.case.get("schedulerConfigFile") or self.case.get("schedulerConfigPath")
        if path is not None:
            config["profile"] = only_document(_place(path, (self.file.parent, self.file.parent.parent), self.name), KIND).data
        return config


def find_workloads(path: Path, wanted: Sequence[str] = ()) -> list[Workload]:
    """The workloads of *path* whose names, or those of their test cases, are *wanted*, which may be patterns; without names all."""
    found = [
        Workload(name=f"{case['name']}/{fields['name']}", case=case, fields=fields, file=path)
        for case in parsed(path.read_bytes(), str(path))[0]
        for fields in case["workloads"]
    ]
    patterns = [pattern for name in wanted for pattern in (name, f"{name}/*")] or ["*"]
    chosen = [each for each in found if any(fnmatchcase(each.name, pattern) for pattern in patterns)]
    if not chosen:
        raise ManifestError(f"{path}: no workload is called {' or '.join(wanted)}, wanted one such as {found[0].name}")
    return chosen


def _operation(step: Mapping[str, Any], params: Mapping[str, Any], used: set[str], where: str) -> Json:
    """An operation, with ``where``. Raises :class:`~kubeclassic.exceptions.ManifestError` for what is not known."""
    known = OPS.get(step["opcode"])
    if known is None:
        raise ManifestError(f"{where}: got the operation {step['opcode']}, wanted {', '.join(OPS)}")
    found: Json = {"opcode": step["opcode"], "where": where, "count": 0}
    for name, value in step.items():
        plain = name.removesuffix("Param")
        if plain != "opcode" and plain not in known:
            raise ManifestError(f"{where}: got the field {name}, wanted {', '.join(known)}")
        if name != plain:
            used.add(value.removeprefix("$"))
            if value.removeprefix("$") not in params:
                raise ManifestError(f"{where}: got {value}, wanted a parameter of the workload")
            value = params[value.removeprefix("$")]
        found[plain] = _operation(value, params, used, where) if name == "createPodsOp" else value
    return found


# --- objects --------------------------------------------------------------------------------------------------------


def _place(path: str, folders: Sequence[Path], where: str) -> Path:
    found = next((folder / path for folder in folders if (folder / path).is_file()), None)
    if found is None:
        raise ManifestError(f"{where}: {path}: no such file in {', '.join(map(str, folders))}")
    return found


@attrs.frozen
class Maker:
    """Makes the objects of operations, as documents. Names end in numbers, so that each run has the same ones."""

    folders: Sequence[Path]
    """Where templates are looked for: at the file, or, as upstream runs it, one folder above."""
    default_pod: str | None = None
    _numbers: Counter[str] = attrs.field(factory=Counter)
    """Beginning of a name -> how many objects have it."""

    def template(self, path: str | None, kind: str | None, where: str) -> Json:
        """The object in the file *path*; without a path the default of its *kind*."""
        if path is None:
            return deepcopy(DEFAULTS[kind or ""])
        found = {"kind": kind, **only_document(_place(path, self.folders, where), "object").data}
        spec = found.get("spec") or {}
        if found["kind"] not in ({kind} if kind else KINDS):
            raise ManifestError(f"{where}: {path}: got a {found['kind']}, wanted a {kind or 'kind that scheduling reads'}")
        if found["kind"] == "Pod" and spec.get("priorityClassName") and spec.get("priority") is None:
            raise ManifestError(f"{where}: {path}: got priorityClassName alone, wanted priority too: no API server looks it up")
        return found

    def nodes(self, op: Json, index: int) -> Iterator[Json]:
        """The nodes of *op*, the operation of number *index*, and their CSINodes."""
        form = self.template(op.get("nodeTemplatePath"), "Node", op["where"])
        if "nodeTemplatePath" not in op:
            form["metadata"] = {"generateName": f"node-{index}-"}
        given = op.get(STRATEGIES[0])
        labelling = op.get(STRATEGIES[1]) or op.get(STRATEGIES[2])
        for number in range(op["count"]):
            node = self._named(form)
            name = node["metadata"]["name"]
            labels = node["metadata"]["labels"] = {**(node["metadata"].get("labels") or {}), HOSTNAME: name}
            if labelling is not None:
                values = labelling.get("labelValues") or [labelling.get("labelValue") or f"unique-{name}"]
                labels[labelling["labelKey"]] = values[number % len(values)]
            status = node["status"] = dict(node.get("status") or {})
            allocatable = (given or {}).get("nodeAllocatable") or {}
            status["allocatable"] = {**(status.get("allocatable") or status.get("capacity") or {}), **allocatable}
            yield node
            if given is not None:
                limits = given.get("csiNodeAllocatable") or {}
                drivers = [{"name": driver, "nodeID": name, "allocatable": limit} for driver, limit in limits.items()]
                annotations = {MIGRATED: ",".join(given["migratedPlugins"])} if given.get("migratedPlugins") else {}
                yield {"kind": "CSINode", "metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}

    def namespaces(self, op: Json) -> Iterator[Json]:
        """The namespaces of *op*."""
        form = self.template(op.get("namespaceTemplatePath"), "Namespace", op["where"])
        for number in range(op["count"]):
            yield {**form, "metadata": {**(form.get("metadata") or {}), "name": f"{op['prefix']}-{number}"}}

    def pods(self, op: Json, namespace: str) -> Iterator[Json]:
        """The pods of *op*, each after its claim and its volume."""
        form = self.template(op.get("podTemplatePath") or self.default_pod, "Pod", op["where"])
        for _ in range(op["count"]):
            pod = self._named(form, namespace)
            if _VOLUMES[0] in op:
                claim, volume = (self.template(op[path], None, op["where"]) for path in reversed(_VOLUMES))
                number = self._numbers[f"claims of {namespace}"]
                self._numbers[f"claims of {namespace}"] += 1
                yield from _bound(claim, volume, namespace, number)
                pod["spec"]["volumes"] = [{"name": "vol", "persistentVolumeClaim": {"claimName": f"pvc-{number}"}}]
            yield pod

    def churned(self, op: Json, namespace: str) -> list[Json]:
        """One object of each of the templates of *op*, under new names."""
        forms = [self.template(path, None, op["where"]) for path in op["templatePaths"]]
        return [self._named(form, namespace if KINDS[form["kind"]].namespaced else None) for form in forms]

    def _named(self, form: Json, namespace: str | None = None) -> Json:
        """A copy of *form* with a name that no other object has; a pod has what the API server would give it."""
        made, kind = deepcopy(form), form["kind"].lower()
        metadata = made["metadata"] = dict(made.get("metadata") or {})
        beginning = metadata.pop("generateName", None) or f"{metadata.get('name') or kind}-"
        number = self._numbers[f"{kind} {beginning}"]
        self._numbers[f"{kind} {beginning}"] += 1
        metadata |= {"name": f"{beginning}{number}", "uid": f"uid-{kind}-{beginning}{number}"}
        if namespace is not None:
            metadata["namespace"] = namespace
        if made["kind"] == "Pod":
            made["spec"] = {"schedulerName": "default-scheduler", "priority": 0, **(made.get("spec") or {})}
        return made


def _bound(claim: Json, volume: Json, namespace: str, number: int) -> tuple[Json, Json]:
    """A claim and a volume that are bound to each other; the volume has a disk of its own."""
    name, volume_name = f"pvc-{number}", f"{namespace}-vol-{number}"
    spec = dict(volume.get("spec") or {})
    for source, handle in (("csi", {"volumeHandle": volume_name}), ("awsElasticBlockStore", {"volumeID": f"vol-{number}"})):
        if spec.get(source):
            spec[source] = {**spec[source], **handle}
    spec["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name, "apiVersion": "v1"}
    claim["metadata"] = {**(claim.get("metadata") or {}), "name": name, "namespace": namespace}
    claim["spec"] = {**(claim.get("spec") or {}), "volumeName": volume_name}
    claim["status"] = {"phase": "Bound"}
    metadata = {**(volume.get("metadata") or {}), "name": volume_name}
    return claim, {**volume, "metadata": metadata, "spec": spec, "status": {"phase": "Bound"}}


# --- what happens when ----------------------------------------------------------------------------------------------


@attrs.frozen
class Phase:
    """What happens between two waits, in order. *counted*: keys of the pods that are measured, if it is."""

    events: Sequence[Event]
    counted: frozenset[str] = frozenset()

    def items(self) -> list[tuple[str, KubeObject]]:
        """The events with their objects decoded, as the API server would have stored them."""
        return [(verb, with_defaults(found)) for verb, document in self.events if (found := decode(document, strict=False))]


@attrs.define
class Churning:
    """One churn, which goes on in the background until the workload ends. *due*: the virtual time of the next turn, in milliseconds."""

    op: Json
    namespace: str
    maker: Maker
    due: int
    turns: int = 0
    there: dict[int, list[Json]] = attrs.field(factory=dict)
    """Place -> the objects that are there now; mode recreate has ``number`` places, each made and deleted in turn."""

    @property
    def interval(self) -> int:
        """Milliseconds between two turns; 500 is upstream's default."""
        return self.op.get("intervalMilliseconds") or 500

    def events_until(self, now: int) -> Iterator[Event]:
        """The events of all turns that are due."""
        recreates, number = self.op["mode"] == "recreate", self.op.get("number", 0)
        while self.due <= now and (recreates or not 0 < number <= self.turns):
            place = self.turns % number if recreates else self.turns
            gone = self.there.pop(place, None)
            made = [] if gone else self.maker.churned(self.op, self.namespace)
            if recreates and made:
                self.there[place] = made
            yield from ((DELETE, document) for document in gone or ())
            yield from ((SCHEDULE if document["kind"] == "Pod" else ADD, document) for document in made)
            self.turns += 1
            self.due += self.interval


@attrs.define
class Timeline:
    """Takes operations in order; :attr:`objects` and :attr:`phases` are what becomes of them."""

    maker: Maker
    objects: list[Json] = attrs.field(factory=list)
    """What is there before the first pod is scheduled."""
    phases: list[Phase] = attrs.field(factory=list)
    now: int = 0
    events: list[Event] = attrs.field(factory=list)
    """What has happened since the last wait."""
    churns: list[Churning] = attrs.field(factory=list)
    namespaces: set[str] = attrs.field(factory=set)

    def take(self, op: Json, index: int) -> None:
        """Let *op*, the operation of number *index*, have its effect."""
        match op["opcode"]:
            case "createNodes":
                self._add(self.maker.nodes(op, index))
            case "createNamespaces":
                found = list(self.maker.namespaces(op))
                self.namespaces |= {document["metadata"]["name"] for document in found}
                self._add(found)
            case "createPods":
                self._schedule(op, self._namespace(op, index))
            case "churn":
                churn = Churning(op, self._namespace(op, index), self.maker, self.now)
                churn.due += churn.interval
                self.churns.append(churn)
            case "sleep":
                self.now += round(1000 * (parse_duration(str(op["duration"])) or 0))
                self._let_churn()
            case _:
                if missing := [name for name in op.get("namespaces") or () if name not in self.namespaces]:
                    raise ManifestError(f"{op['where']}: got {missing[0]}, wanted a namespace of the operations before")
                self._end_phase()

    def _namespace(self, op: Json, index: int) -> str:
        """The namespace of an operation, which is made if it is not there yet."""
        name = op.get("namespace") or f"namespace-{index}"
        if name not in self.namespaces:
            self.namespaces.add(name)
            self._add([{"kind": "Namespace", "metadata": {"name": name}}])
        return str(name)

    def _add(self, documents: Iterable[Json]) -> None:
        if self.phases or self.events:
            self.events += ((ADD, document) for document in documents)
        else:
            self.objects += documents

    def _schedule(self, op: Json, namespace: str) -> None:
        documents = list(self.maker.pods(op, namespace))
        self._add(document for document in documents if document["kind"] != "Pod")
        pods = [document for document in documents if document["kind"] == "Pod"]
        if op.get("collectMetrics"):
            self._set_up()
        for pod in pods:
            self.events.append((SCHEDULE, pod))
            self.now += 1
            self._let_churn()
        if op.get("collectMetrics"):
            self._end_phase(frozenset(f"{namespace}/{pod['metadata']['name']}" for pod in pods))
        elif not op.get("skipWaitToCompletion"):
            self._end_phase()

    def _set_up(self) -> None:
        """End a phase before the first pod that is not decided yet: such pods are decided while others are measured."""
        first = next((at for at, (verb, _) in enumerate(self.events) if verb == SCHEDULE), len(self.events))
        waiting = self.events[first:]
        self.events = self.events[:first]
        self._end_phase()
        self.events = waiting

    def _let_churn(self) -> None:
        for churn in self.churns:
            self.events += churn.events_until(self.now)

    def _end_phase(self, counted: frozenset[str] = frozenset()) -> None:
        """All pods so far are decided."""
        if self.events:
            self.phases.append(Phase(tuple(self.events), counted))
            self.events = []


# --- timing ---------------------------------------------------------------------------------------------------------


def time_once(workload: Workload, release: str) -> Timing:
    """Run *workload*, and time the decisions of the phases that are measured."""
    timeline = workload.timeline()
    case = {"name": workload.name, "version": release, "config": workload.config(release), "objects": timeline.objects}
    run = Run(build(case, {}), details=False)
    measured, counted = Timing(), frozenset[str]()
    parts = [(phase.counted, phase.items()) for phase in timeline.phases]
    with settled():
        measured.prepare(run.engine)
        for pods, items in parts:
            counted |= pods
            (measured if pods else Timing()).follow(_decisions(run, items), run.engine)
    measured.hosts = {key: host for key, host in measured.hosts.items() if key in counted}
    measured.nodes = run.engine.cache.node_count
    return measured


def _decisions(run: Run, items: Iterable[tuple[str, KubeObject]]) -> Iterator[Decision]:
    """The decisions on the pods in order, then those on the pods that preempted others and are still there."""
    for verb, item in items:
        if verb == SCHEDULE and isinstance(item, Pod):
            yield run.cycle(item)
        elif verb == DELETE:
            run.delete(item)
        else:
            run.put(item)
    for pod in run.take_retries():
        yield run.cycle(pod, retry=True)


def main() -> None:
    """Print a line of JSON for each workload: the best of its runs."""
    parser = argparse.ArgumentParser(description="Time workload files of upstream's scheduler_perf.")
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--workload", action="append", default=[], metavar="NAME", help="a name or pattern, of a test case too; default: all"
    )
    parser.add_argument("--release", default=DEFAULT_FRAMEWORK)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    try:
        for workload in find_workloads(options.file, options.workload):
            runs = [time_once(workload, options.release) for _ in range(options.repeat)]
            best = max(runs, key=lambda found: found.rate)
            record = {
                "case": workload.name, "release": options.release, "pods": len(best.hosts), "scheduled": best.scheduled,
                "pods_per_s": round(best.rate, 1), "loop_pods_per_s": round(best.loop_rate, 1),
                "runs": [round(found.rate, 1) for found in runs], "milliseconds": best.latencies,
                "throughput": plain(best.throughput), "calibration": calibration(),
            }  # fmt: skip
            click.echo(json.dumps(record))
    except KubeclassicError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
