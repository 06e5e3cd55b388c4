"""The workloads of a file: test cases by name, each with a template of operations and workloads that give its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import attrs

from ....api.reading.documents import parsed, read_documents
from ....api.reading.fields import shown
from ....api.reading.formats.files import read_file
from ....exceptions import ManifestError, UnknownNameError, did_you_mean
from ....framework.config.configuration import KIND
from .fields import Fields, Params
from .objects import Maker
from .ops import Churn, CreatePods, Op, Sleep, read_op
from .timeline import Timeline

Json = dict[str, Any]

MARK = b"workloadTemplate"
_LONGEST = 1 << 22
"""Bytes: a longer file is no file of workloads."""
_CASE = (
    "name", "featureGates", "metricsCollectorConfig", "defaultThresholdMetricSelector", "workloadTemplate", "workloads",
    "schedulerConfigFile", "schedulerConfigPath", "defaultPodTemplatePath", "labels",
)  # fmt: skip
_WORKLOAD = ("name", "params", "labels", "featureGates", "threshold", "thresholdMetricSelector")


@attrs.frozen(kw_only=True)
class UnreadWorkload:
    """One workload of a test case, not yet read: its operations are read when it is run."""

    case: Fields
    fields: Fields
    file: Path

    @property
    def name(self) -> str:
        """``TestCase/Workload``, as upstream reports it."""
        return f"{self.case.data['name']}/{self.fields.data['name']}"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where its paths begin: at the file, or, as upstream runs it, one folder above."""
        return (self.file.parent, self.file.parent.parent)

    def check(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.ManifestError` with the place of what is not known, or if nothing is to be measured."""
        if not any(isinstance(op, CreatePods) and op.is_measured for op in self.operations()):
            raise ManifestError(f"{self.file}, {self.name}: got no pods with collectMetrics, wanted some to measure")

    def uses_time(self) -> bool:
        """Whether something goes by virtual time in it."""
        return any(isinstance(op, (Churn, Sleep)) for op in self.operations())

    def operations(self) -> list[Op]:
        """The operations in order. Raises as :meth:`check` does."""
        params, found = Params(self.fields.mapping("params")), []
        for number, value in enumerate(self.case.list("workloadTemplate")):
            found += read_op(value, f"{self.file}, {self.name}, workloadTemplate[{number}]", params)
        if params.unused():
            raise ManifestError(f"{self.fields.where}.params: got {', '.join(params.unused())}, which no operation uses")
        return found

    def problem(self, version: str) -> Json:
        """The workload as a case for :func:`~kubeclassic.simulation.bench.bench.time_once`."""
        timeline = Timeline(Maker(self.folders, self.case.text("defaultPodTemplatePath")))
        for number, op in enumerate(self.operations()):
            timeline.take(op, number)
        gates = {**self.case.mapping("featureGates"), **self.fields.mapping("featureGates")}
        config: Json = {"featureGates": gates, "percentageOfNodesToScore": 0, "preemption": True} | self._profile()
        return {"name": self.name, "version": version, "config": config, "objects": timeline.objects, "phases": timeline.phases}

    def _profile(self) -> Json:
        path = self.case.text("schedulerConfigFile") or self.case.text("schedulerConfigPath")
        if path is None:
            return {}
        place = next((folder / path for folder in self.folders if (folder / path).is_file()), None)
        if place is None:
            raise ManifestError(f"{self.case.where}.schedulerConfigFile: {path}: no such file in {', '.join(map(str, self.folders))}")
        documents = [document.data for document in read_documents(place)]
        if [document.get("kind") for document in documents] != [KIND]:
            raise ManifestError(f"{place}: wanted one {KIND}")
        return {"profile": documents[0]}


def is_workload_file(path: Path) -> bool:
    """Whether *path* is a file of workloads: a short one that says ``workloadTemplate``."""
    return path.is_file() and path.stat().st_size <= _LONGEST and MARK in read_file(str(path))


def find_workloads(path: Path, wanted: Sequence[str] = ()) -> list[UnreadWorkload]:
    """The workloads of *path* whose names are *wanted*; without names all of them.

    A name may be that of a test case, and may be a pattern such as ``*/500Nodes``. Raises
    :class:`~kubeclassic.exceptions.ManifestError` for what is no test case, :class:`~kubeclassic.exceptions.UnknownNameError` for a name
    that none has.
    """
    found = list(_workloads(path))
    names = [workload.name for workload in found]
    for name in wanted:
        if not any(_matches(workload, name) for workload in found):
            raise UnknownNameError(f'--workload: got "{name}", wanted one such as {names[0]}{did_you_mean(name, names)}')
    return [workload for workload in found if not wanted or any(_matches(workload, name) for name in wanted)]


def _matches(workload: UnreadWorkload, name: str) -> bool:
    return fnmatchcase(workload.name, name) or fnmatchcase(str(workload.case.data["name"]), name)


def _workloads(path: Path) -> Iterator[UnreadWorkload]:
    documents = parsed(read_file(str(path)), str(path))
    if len(documents) != 1 or not isinstance(documents[0], list) or not documents[0]:
        raise ManifestError(f"{path}: wanted a list of test cases")
    seen: set[str] = set()
    for number, value in enumerate(documents[0]):
        case = _named(value, f"{path}, [{number}]", _CASE)
        if not case.list("workloads") or not case.list("workloadTemplate"):
            case.refuse("workloadTemplate" if case.list("workloads") else "workloads", "a list of at least one")
        for place, inner in enumerate(case.list("workloads")):
            found = UnreadWorkload(case=case, fields=_named(inner, f"{case.where}.workloads[{place}]", _WORKLOAD), file=path)
            if found.name in seen:
                raise ManifestError(f"{found.fields.where}.name: got {shown(found.name)} twice, wanted names that differ")
            seen.add(found.name)
            yield found


def _named(value: Any, where: str, known: Sequence[str]) -> Fields:
    name = value.get("name") if isinstance(value, Mapping) else None
    fields = Fields.of(value, f"{where} {name}" if isinstance(name, str) else where, known)
    fields.needed("name")
    return fields
