"""What a checkpoint can hold besides plain data: objects of our own classes, methods that are due later, a few functions.

All three are lists of what is allowed. Whatever is not in them is neither written nor read.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any

import attrs
from msgspec import Struct

from ...algorithmprovider import cells
from ...api.objects import Map
from ...core.arrays.batch import Batch
from ...core.arrays.census import no_group
from ...core.arrays.rowchanges import Derived
from ...core.cluster.listings import Listing
from ...core.cluster.order import RoundOrder
from ...core.details import BoardDetails
from ...core.engine import Engine
from ...core.incremental.answers import AnswerCache
from ...core.incremental.boards import Boards
from ...core.pods.notes import CycleState
from ...core.pods.template import Template
from ...core.preemption.layout import PodLayout
from ...core.preemption.outcomes import DryRuns
from ...core.preemption.refusals import UnschedulableCache
from ...core.queue.priority import by_priority, by_priority_and_time
from ...core.release import Release
from ...core.volumes.assumecache import AssumeCache
from ...core.volumes.binder import class_in_spec
from ...core.volumes.match import volume_class
from ...exceptions import KubeclassicError
from ...framework import copying
from ...framework.flow import held_by
from ...framework.plugin import Plugin
from ...framework.queue.registrations import Registrations

PACKAGE = __name__.partition(".simulation.")[0]
ROOMS = (
    "algorithmprovider.cells", "api.objects", "core.arrays", "core.binding", "core.classic", "core.cluster", "core.cycle", "core.details",
    "core.decision.decision", "core.decision.preemptionplan", "core.decision.ties", "core.engine", "core.equivalence", "core.failures",
    "core.feed",
    "core.incremental", "core.matching", "core.pods",
    "core.preemption", "core.queue", "core.router", "core.volumes", "framework.cycle",
    "framework.flow", "framework.plugins", "framework.queue", "framework.status",
    "framework.waitingpods", "predicates", "priorities", "simulation.replay.agenda",
    "simulation.replay.cluster", "simulation.replay.inputs.churn", "simulation.replay.inputs.traces", "simulation.replay.journal",
    "simulation.replay.ledger", "simulation.replay.externalevents", "simulation.replay.replay", "simulation.replay.series",
    "simulation.replay.settings",
    "simulation.replay.simulatedcluster", "simulation.replay.tally",
)  # fmt: skip
"""Modules, and packages of them, whose attrs classes, enumerations and named tuples can be in a checkpoint. None of them writes files."""
REBUILT: Mapping[type, tuple[str, ...]] = {
    Batch: ("table", "rows"),
    Derived: (),
    Template: tuple(field.name for field in attrs.fields(Template) if field.init and field.name != "notes"),
    AnswerCache: ("table", "limit"),
    Boards: ("answers", "limit"),
    RoundOrder: ("cache", "table"),
    PodLayout: ("table", "by_start_time"),
    DryRuns: ("layout", "limit"),
    UnschedulableCache: ("quick_path",),
    BoardDetails: ("quick_path",),
    Registrations: ("profiles", "cells", "gives_hints", "has_extenders"),
}
"""Classes that are rebuilt from these attributes; everything else in them is computed again when it is needed."""
MAPPINGS = (Map, CycleState)
"""Our own kinds of dict."""
FUNCTIONS: Mapping[str, Any] = {
    "held_by": held_by,
    "first_best": cells.first_best,
    "round_robin": cells.round_robin,
    "class_in_spec": class_in_spec,
    "volume_class": volume_class,
    "by_priority": by_priority,
    "by_priority_and_time": by_priority_and_time,
    "namespace": attrs.fields(AssumeCache).group.default,
    "namespace of a listing": attrs.fields(Listing).group.default,
    "no_group": no_group,
}
"""Functions by name. Those of the release are among :func:`named_parts`."""
METHODS = frozenset({
    "core.classic.ClassicFlow._cached_failure",
    "core.engine.Engine.asks_extenders",
    "core.incremental.quick.QuickPath.row",
    "core.queue.priority.PriorityQueue._ends_before",
    "framework.flow.FrameworkFlow._latest_cycle",
    "framework.flow.FrameworkFlow._profile",
    "framework.flow.FrameworkFlow._cached_failure",
    "framework.queue.queue.FrameworkQueue._ends_before",
    "framework.queue.queue.FrameworkQueue._waits_before",
    *(f"simulation.replay.cluster.churnworkload.ChurnWorkload.{name}" for name in ("_advance", "_churn", "_go_on", "_recover_one", "make")),
    *(f"simulation.replay.cluster.nodefailures.NodeFailures.{name}" for name in ("_evict_if_deleted", "_evict_if_failed")),
    *(
        f"simulation.replay.cluster.podlifecycles.PodLifecycles.{name}"
        for name in ("_bind", "_bind_when_ready", "_finish", "_gone", "_run", "_scheduled", "_time_is_up", "_unbind")
    ),
    *(f"simulation.replay.cluster.permitwaits.PermitWaits.{name}" for name in ("_conclude", "_ended", "_time_out")),
    "simulation.replay.cluster.volumecontroller.VolumeController._provision",
    "simulation.replay.recording.Recording._add_event",
    "simulation.replay.recording.Recording._show_instant",
    "simulation.replay.recording.Recording._add_row",
})  # fmt: skip
"""Methods that a checkpoint can hold together with their object: tasks, and what parts of the scheduler ask each other."""
QUEUE_SORT = "less"
"""The method of a QueueSort plugin."""


class StateError(KubeclassicError):
    """Something is in the state that a checkpoint cannot hold, or in a checkpoint that none can hold."""


def name_of(kind: type) -> str:
    """A class of ours by module and name, without the package's own."""
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix(f"{PACKAGE}.")


@cache
def is_allowed(kind: Any) -> bool:
    """Whether objects of *kind* can be in a checkpoint, and *kind* itself as the key of a dict."""
    return class_called(name_of(kind)) is kind


def class_called(name: str) -> type | None:
    """The class that :func:`name_of` calls *name*, if it is one that can be in a checkpoint. Nothing is imported for it."""
    room, _, own = name.rpartition(".")
    if not any(room == allowed or room.startswith(f"{allowed}.") for allowed in ROOMS):
        return None
    kind = getattr(sys.modules.get(f"{PACKAGE}.{room}"), own, None)
    if not isinstance(kind, type) or name_of(kind) != name:
        return None
    return kind if is_record(kind) or kind in MAPPINGS or issubclass(kind, enum.Enum) or is_named_tuple(kind) else None


def is_record(kind: type) -> bool:
    """Whether objects of *kind* are written attribute by attribute."""
    return attrs.has(kind) or issubclass(kind, Struct) or kind is cells.Lottery


def is_named_tuple(kind: type) -> bool:
    """Whether *kind* is a named tuple."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def fields_of(kind: type) -> tuple[str, ...]:
    """The attributes of a record, in order."""
    if kind in REBUILT:
        return REBUILT[kind]
    if issubclass(kind, Struct):
        return kind.__struct_fields__
    return tuple(field.name for field in attrs.fields(kind)) if attrs.has(kind) else ("_draw",)


def method(owner: Any, name: Any) -> Callable[..., Any]:
    """The method called *name* of *owner*; raises :class:`StateError` unless it is one that a checkpoint can hold."""
    wanted = f"{name_of(type(owner))}.{name}"
    if wanted not in METHODS and not (isinstance(owner, Plugin) and name == QUEUE_SORT):
        raise StateError(f"got the method {wanted[:200]}, wanted one that a replay puts off")
    found: Callable[..., Any] = getattr(owner, name)
    return found


def partly(function: Any, *arguments: Any) -> partial[Any]:
    """*function*, a method or a function of those allowed, with its first arguments."""
    if not isinstance(function, (MethodType, FunctionType)):
        raise StateError("got a task that is no method")
    return partial(function, *arguments)


# --- what is held by name only --------------------------------------------------------------------------------------


def named_parts(engine: Engine) -> dict[str, Any]:
    """Name -> part that the options give again: what copies hold by name, and what is functions, as a checkpoint is data without any."""
    found = {**copying.named_parts(engine), "flow": engine.make_flow}
    found |= {f"extender {number}": extender for number, extender in enumerate(engine.extenders)}
    if isinstance(engine.ties.pick, FunctionType):
        found["tie-break"] = engine.ties.pick
    return found | dict(_cells(engine.release))


def _cells(release: Release) -> Iterator[tuple[str, Any]]:
    """The cells of a release that are functions, or values with functions in them."""
    for field in Release.__struct_fields__:
        value = getattr(release, field)
        if isinstance(value, FunctionType):
            yield f"cell {field}", value
        elif isinstance(value, Struct):
            yield f"cell {field}", value
            functions = ((name, getattr(value, name)) for name in value.__struct_fields__)
            yield from ((f"cell {field}.{name}", found) for name, found in functions if isinstance(found, FunctionType))
