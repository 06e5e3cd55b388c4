"""The state of a scheduler as bytes, for its copies and pickles.

Parts that follow from its configuration (rules, release, profiles) are in the bytes by name only: the reader
has made them again from a :class:`~.schedulerspec.SchedulerSpec`. Cached answers are left out too, as they
can be computed again.
"""

from __future__ import annotations

import copy
import io
import pickle
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

import attrs

from ..algorithmprovider.catalogue import CATALOGUE
from ..core.engine import Engine
from ..core.guard import RuleGuard
from ..core.run import Run
from .plugin import Plugin, Predicate, Priority
from .registry import DEFAULT_REGISTRY
from .schedulerspec import SchedulerSpec

GIVEN = ("args", "handle")
"""The attributes that a plugin is constructed with."""


def _plugins(engine: Engine) -> Iterator[tuple[str, Plugin]]:
    for name, profile in engine.profiles.items():
        for plugin in profile.plugins().values():
            yield f"plugin {plugin.name} of {name}", plugin


OURS = __name__.partition(".")[0]
KNOWN = frozenset(sys.stdlib_module_names) | {OURS, "numpy"}
"""Packages whose objects are written to the bytes."""
Named = Mapping[str, Any]


@attrs.frozen(repr=False)
class Frozen:
    """A part of the state: *data*, and the *foreign* objects in it, which are a user's own. The pickler that
    writes this writes them too."""

    data: bytes
    foreign: list[Any]

    def __deepcopy__(self, memo: dict[int, Any]) -> Frozen:
        return Frozen(self.data, copy.deepcopy(self.foreign, memo))


def freeze_spec(spec: SchedulerSpec) -> Frozen:
    """*spec*, with a user's own rules and plugins among the foreign objects."""
    return _freeze(spec, _upstream_rules())


def thaw_spec(frozen: Frozen) -> SchedulerSpec:
    """The spec."""
    spec: SchedulerSpec = _thaw(frozen, _upstream_rules())
    return spec


def freeze_run(run: Run, objects: Mapping[str, Any]) -> Frozen:
    """The state of *run* and its engine; *objects* are those that its reader has by the same names."""
    # The attributes of users' plugins, by the plugin's name in :func:`_parts`. Upstream's plugins have no
    # state that counts.
    state = {
        "run": run,
        "plugins": {
            name: {
                key: value
                for key, value in vars(plugin).items()
                if not (key in GIVEN or isinstance(value, RuleGuard))
            }
            for name, plugin in _plugins(run.engine)
            if DEFAULT_REGISTRY.get(plugin.name) is not type(plugin)
        },
        # Profiles are stored by name, so their waiting pods are stored apart.
        "waiting": {name: list(profile.waiting_pods) for name, profile in run.engine.profiles.items()},
    }
    return _freeze(state, {**objects, **_parts(run.engine), "latest cycle": run.engine.latest})


def thaw_run(frozen: Frozen, fresh: Engine, objects: Mapping[str, Any]) -> Run:
    """The run in its earlier state. *fresh* is a new engine of the same spec; its rules and plugins become
    those of the run."""
    state = _thaw(frozen, {**objects, **_parts(fresh), "latest cycle": None})
    # Give users' plugins their attributes back.
    states = state["plugins"]
    for name, plugin in _plugins(fresh):
        vars(plugin).update(states.get(name, {}))
    for name, profile in fresh.profiles.items():
        profile.waiting_pods.replace(state["waiting"][name])
    run: Run = state["run"]
    for profile in run.engine.profiles.values():
        profile.handle.listings = run.engine.listings
    return run


def _parts(engine: Engine) -> dict[str, Any]:
    """The parts of *engine* that follow from the options, by name."""
    algorithm = engine.algorithm
    parts = {"release": algorithm.release, "gates": algorithm.gates, **engine.flow.shared_parts()}
    algorithms = {"algorithm": algorithm}
    for name, profile in engine.profiles.items():
        parts |= {f"profile of {name}": profile, f"points of {name}": profile.points}
        algorithms[f"algorithm of {name}"] = profile.algorithm
        if profile.cacheable is not None:
            algorithms[f"cacheable of {name}"] = profile.cacheable
    parts |= {**algorithms, **dict(_plugins(engine))}
    for name, algorithm in algorithms.items():
        parts |= {f"predicate {rule.name} of {name}": rule for rule in algorithm.predicates}
        parts |= {f"priority {rule.name} of {name}": rule for rule, _ in algorithm.priorities}
    return parts


def _upstream_rules() -> dict[str, Any]:
    return {
        f"rule {name}": rule for name, rule in (*CATALOGUE.predicates.items(), *CATALOGUE.priorities.items())
    }


# --- bytes --------------------------------------------------------------------------------------------------


def _freeze(state: Any, named_parts: Named) -> Frozen:
    stream = io.BytesIO()
    foreign = list[Any]()
    _Pickler(stream, named_parts, foreign).dump(state)
    return Frozen(stream.getvalue(), foreign)


def _thaw(frozen: Frozen, parts_by_name: Named) -> Any:
    return _Unpickler(io.BytesIO(frozen.data), parts_by_name, frozen.foreign).load()


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, parts_by_name: Named, foreign: list[Any]) -> None:
        super().__init__(stream, protocol=5)
        self._names: dict[int, str | int] = {
            id(part): name for name, part in parts_by_name.items() if part is not None
        }
        self._foreign = foreign

    def persistent_id(self, obj: Any) -> str | int | None:
        """The name of an object that the reader of the bytes has; the index of a foreign one."""
        name = self._names.get(id(obj))
        if name is None:
            # A user's own object, or an instance of a user's class: only the user's own pickler may know how
            # to write it.
            home = obj.__module__ if isinstance(obj, type | FunctionType) else type(obj).__module__
            if isinstance(obj, Predicate | Priority) or (home or "").partition(".")[0] not in KNOWN:
                name = self._names[id(obj)] = len(self._foreign)
                self._foreign.append(obj)
        return name

    def reducer_override(self, obj: Any) -> Any:
        """The pickled form of objects that pickle cannot write itself."""
        return (_read_only, (dict(obj),)) if isinstance(obj, MappingProxyType) else NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, parts_by_name: Named, foreign: list[Any]) -> None:
        super().__init__(stream)
        self._names = parts_by_name
        self._foreign = foreign

    def persistent_load(self, name: Any) -> Any:
        """The object of that name or index."""
        return self._foreign[name] if isinstance(name, int) else self._names[name]


def _read_only(values: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(values)
