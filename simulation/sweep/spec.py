"""The file of a sweep: what is scheduled, the grid, the objectives and the search. Errors say where in the file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.documents import only_document
from ...exceptions import ManifestError, check_type, did_you_mean, one_line
from .axes import FILES, KEYS, MOST_WEIGHT, WEIGHT, axis_of, check_keys, refuse
from .inputspec import InputSpec, read_input
from .measures import BY_DEFAULT, OF_WAITING, WANTED, is_objective, known_names

SECTIONS = ("cluster", "pods", "trace", "inputs", "grid", "runs", "objectives", "search")
SEARCH = ("weights", "maximise", "minimise", "trials", "seed")
NAME = "name"
_RANGE = re.compile(r"(\d{1,10})\.\.(\d{1,10})")
_TRIALS = 50


@attrs.frozen(repr=False)
class SearchSpec:
    """Which weights are tried, within which bounds, and what is better."""

    weights: Mapping[str, tuple[int, int]]
    maximise: tuple[str, ...] = ()
    minimise: tuple[str, ...] = ()
    trials: int = _TRIALS
    seed: int = 0

    @property
    def objectives(self) -> tuple[str, ...]:
        """All that are looked at."""
        return (*self.maximise, *self.minimise)


@attrs.frozen(repr=False)
class Spec:
    """A sweep as it was asked for. Each of *runs* is combined with each point of *grid* and each of *inputs*."""

    inputs: Mapping[str, InputSpec]
    grid: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)
    runs: tuple[Mapping[str, Any], ...] = ()
    """Settings by key, and their ``name``."""
    objectives: tuple[str, ...] = BY_DEFAULT
    search: SearchSpec | None = None
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
        search = self._search()
        return Spec(self._inputs(), grid, runs, self._objectives(search), search, self.folder)

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

    def _objectives(self, search: SearchSpec | None) -> tuple[str, ...]:
        more = search.objectives if search is not None else ()
        if "objectives" in self.data:
            return tuple(dict.fromkeys([*self._objective_list("objectives", self.data["objectives"]), *more]))
        has_trace = "trace" in self.data or any(isinstance(one, Mapping) and "trace" in one for one in self._named("inputs").values())
        waits = tuple(name for name in OF_WAITING if name in ("waiting p50", "waiting p99")) if has_trace else ()
        return tuple(dict.fromkeys([*BY_DEFAULT, *waits, *more]))

    def _objective_list(self, path: str, given: Any) -> tuple[str, ...]:
        listed = given if isinstance(given, list | tuple) else [given]
        for number, name in enumerate(listed):
            if not is_objective(name):
                refuse(self._at(f"{path}[{number}]"), name, WANTED, did_you_mean(str(name), known_names()))
        if not listed or len(set(listed)) < len(listed):
            refuse(self._at(path), list(listed), "one objective at least, each once")
        return tuple(listed)

    def _search(self) -> SearchSpec | None:
        if self.data.get("search") is None:
            return None
        given = check_keys(self._at("search"), self.data["search"], SEARCH)
        weights = given.get("weights")
        if not isinstance(weights, Mapping) or not weights:
            refuse(self._at("search.weights"), weights, "an object such as {LeastRequestedPriority: 0..10}")
        bounds = {str(name): self._bounds(f"search.weights.{name}", value) for name, value in weights.items()}
        taken = next((name for name in bounds if f"{WEIGHT}{name}" in self._named("grid")), None)
        if taken is not None:
            refuse(self._at("search.weights"), taken, "a weight that is not in the grid too")
        up, down = (self._objective_list(f"search.{side}", given[side]) if side in given else () for side in ("maximise", "minimise"))
        if not (up or down) or set(up) & set(down):
            refuse(self._at("search"), sorted(given), "maximise or minimise, with one objective at least and none in both")
        trials, seed = self._whole(given, "trials", 1, _TRIALS), self._whole(given, "seed", 0, 0)
        return SearchSpec(bounds, up, down, trials, seed)

    def _bounds(self, path: str, value: Any) -> tuple[int, int]:
        found = _RANGE.fullmatch(value) if isinstance(value, str) else None
        low, high = (int(found[1]), int(found[2])) if found else (1, 0)
        if not low < high <= MOST_WEIGHT:
            refuse(self._at(path), value, "the least and the greatest weight, such as 0..10")
        return low, high

    def _whole(self, given: Mapping[str, Any], key: str, least: int, default: int) -> int:
        value = given.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 1_000_000:
            refuse(self._at(f"search.{key}"), value, f"a whole number from {least} to 1000000")
        return value
