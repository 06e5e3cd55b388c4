"""The file of a sweep: what is scheduled, the grid, the objectives. Errors say where in the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.documents import only_document
from ...exceptions import ManifestError, check_type, did_you_mean, one_line
from .axes import FILES, KEYS, axis_of, check_keys, refuse
from .inputspec import InputSpec, read_input
from .measures import BY_DEFAULT, OF_WAITING, WANTED, is_objective, known_names

SECTIONS = ("cluster", "pods", "trace", "inputs", "grid", "runs", "objectives")
NAME = "name"


@attrs.frozen(repr=False)
class Spec:
    """A sweep as it was asked for. Each of *runs* is combined with each point of *grid* and each of *inputs*."""

    inputs: Mapping[str, InputSpec]
    grid: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)
    runs: tuple[Mapping[str, Any], ...] = ()
    """Settings by key, and their ``name``."""
    objectives: tuple[str, ...] = BY_DEFAULT
    folder: Path = Path()
    """What the paths of policies and the like are relative to."""


def read_spec(given: str | os.PathLike[str] | Mapping[str, Any]) -> Spec:
    """The sweep in a file, whose paths are relative to its folder, or in the same form as a dict.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says where, what was got and what was wanted.
    """
    if isinstance(given, Mapping):
        return _Reader(given, "sweep", Path()).spec()
    check_type("spec", given, (str, os.PathLike), "a path or a dict")
    document = only_document(given, f"with {', '.join(SECTIONS)}")
    if document.repeated:
        raise ManifestError(f"{given}: {document.repeated[0]}: got it twice, wanted it once")
    return _Reader(document.data, os.fspath(given), Path(given).parent).spec()


@attrs.frozen(repr=False)
class _Reader:
    data: Mapping[str, Any]
    where: str
    folder: Path

    def spec(self) -> Spec:
        check_keys(self.where, self.data, SECTIONS)
        grid, runs = self._grid(), self._runs()
        for number, run in enumerate(runs):
            for key in run:
                if key in grid:
                    refuse(self._at(f"runs[{number}]"), key, f"a key that is not in the grid too: {key} is")
        return Spec(self._inputs(), grid, runs, self._objectives(), self.folder)

    def _at(self, path: str) -> str:
        return f"{self.where}: {path}"

    # --- inputs -----------------------------------------------------------------------------------------------------

    def _inputs(self) -> dict[str, InputSpec]:
        found: dict[str, InputSpec] = {}
        if "cluster" in self.data:
            given = {key: self.data[key] for key in ("cluster", "pods") if key in self.data}
            found["cluster"] = read_input(given, self.where, self.folder)
        elif "pods" in self.data:
            refuse(self._at("pods"), self.data["pods"], "cluster too, or the pods within one of inputs")
        if "trace" in self.data:
            found["trace"] = read_input({"trace": self.data["trace"]}, self.where, self.folder)
        for name, given in self._named("inputs").items():
            if name in found:
                refuse(self._at("inputs"), name, "a name of its own, as there is one by that name")
            found[name] = read_input(given, self._at(f"inputs.{name}"), self.folder)
        if not found:
            refuse(self.where, list(self.data), "cluster, trace or inputs: what is scheduled")
        return found

    def _named(self, section: str) -> Mapping[str, Any]:
        given = self.data.get(section, {})
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            refuse(self._at(section), given, "an object with a name for each")
        return given

    # --- configurations ---------------------------------------------------------------------------------------------

    def _grid(self) -> dict[str, tuple[Any, ...]]:
        found = {}
        for key, values in self._named("grid").items():
            listed = values if isinstance(values, list | tuple) else [values]
            if not listed:
                refuse(self._at(f"grid.{key}"), listed, "a value at least")
            found[key] = tuple(self._value(f"grid.{key}[{number}]", key, value) for number, value in enumerate(listed))
            for number, value in enumerate(found[key]):
                if value in found[key][:number]:
                    refuse(self._at(f"grid.{key}[{number}]"), listed[number], "each value once")
        return found

    def _runs(self) -> tuple[Mapping[str, Any], ...]:
        given = self.data.get("runs", [])
        if not isinstance(given, list | tuple):
            refuse(self._at("runs"), given, "a list of objects such as {name: today, policy: policy.yaml}")
        runs = tuple(self._run(f"runs[{number}]", run) for number, run in enumerate(given))
        for number, run in enumerate(runs):
            if run[NAME] in (other[NAME] for other in runs[:number]):
                refuse(self._at(f"runs[{number}].name"), run[NAME], "a name of its own")
        return runs

    def _run(self, path: str, given: Any) -> Mapping[str, Any]:
        if not isinstance(given, Mapping) or not isinstance(given.get(NAME), str) or not given[NAME]:
            refuse(self._at(path), given, "an object with a name, such as {name: today, policy: policy.yaml}")
        return {key: value if key == NAME else self._value(f"{path}.{key}", key, value) for key, value in given.items()}

    def _value(self, path: str, key: Any, value: Any) -> Any:
        axis = axis_of(str(key))
        if axis is None:
            parent = path.rpartition(f".{key}")[0]
            refuse(self._at(parent), key, f"one of {', '.join(KEYS)}", did_you_mean(str(key), KEYS))
        if not axis.holds(value):
            refuse(self._at(path), value, axis.wanted)
        if key in FILES and value is not None and not os.path.isfile(self.folder / value):
            refuse(self._at(path), str(value), f"a file: there is none at {one_line(str(self.folder / value))}")
        return str(value) if isinstance(value, os.PathLike) else value

    # --- objectives -------------------------------------------------------------------------------------------------

    def _objectives(self) -> tuple[str, ...]:
        if "objectives" in self.data:
            return self._objective_list("objectives", self.data["objectives"])
        has_trace = "trace" in self.data or any(isinstance(one, Mapping) and "trace" in one for one in self._named("inputs").values())
        waits = tuple(name for name in OF_WAITING if name in ("waiting p50", "waiting p99")) if has_trace else ()
        return (*BY_DEFAULT, *waits)

    def _objective_list(self, path: str, given: Any) -> tuple[str, ...]:
        listed = given if isinstance(given, list | tuple) else [given]
        for number, name in enumerate(listed):
            if not is_objective(name):
                refuse(self._at(f"{path}[{number}]"), name, WANTED, did_you_mean(str(name), known_names()))
        if not listed or len(set(listed)) < len(listed):
            refuse(self._at(path), list(listed), "one objective at least, each once")
        return tuple(listed)
