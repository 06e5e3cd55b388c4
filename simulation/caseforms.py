"""The forms of conformance cases and answers. Everything else is refused, so no case passes that was not really compared."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ..exceptions import ManifestError
from .queuescripts import OPERATIONS

Json = dict[str, Any]
Whole = Annotated[int, Meta(gt=-(1 << 31), lt=1 << 31)]
CALLS = "http"
"""The field of a cycle with the requests to extenders; a case with scripts of extenders has it."""


class _Form(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """An object without other fields than these."""


class Config(_Form):
    """How the scheduler of a case is configured."""

    policy: Json | None = None
    profile: Json | None = None
    provider: str | None = None
    feature_gates: dict[str, bool] | None = None
    preemption: bool = True
    equivalence_cache: bool = False
    hard_pod_affinity_symmetric_weight: Whole = 1
    percentage_of_nodes_to_score: Whole = 0


class Problem(_Form):
    """A scheduling problem."""

    name: str
    version: str
    pending: list[Json]
    config: Config | None = None
    objects: list[Json] = []
    nominated: dict[str, str] | None = None
    extenders: dict[str, dict[str, dict[str, Json]]] = {}
    """URL prefix -> role -> pod -> reply."""


class Event(_Form):
    """What happens to an object among the pods that wait."""

    event: Literal["add", "update", "delete"]
    object: Json


class Operation(_Form):
    """One operation of a script, with what it is about."""

    op: str
    pod: Json | str | None = None
    object: Json | None = None
    plugins: list[str] = []
    node: str = ""
    event: str = ""
    seconds: Annotated[float, Meta(ge=0, le=1e9)] = 0

    def __post_init__(self) -> None:
        if self.op not in OPERATIONS:
            raise ValueError(f"Expected one of {', '.join(OPERATIONS)}, got {self.op}")


class Script(_Form):
    """A script of the queue."""

    name: str
    version: str
    pod_priority: bool
    script: Annotated[list[Operation], Meta(min_length=1)]
    namespaces: list[Json] = []


class Plan(msgspec.Struct, rename="camel"):
    """What preemption comes to."""

    clear_nominations: list[str] | None = None


class Cycle(_Form):
    """What was decided on a pod."""

    pod: str = ""
    host: str | None = None
    error: str | None = None
    feasible: list[str] | None = None
    failed: Json | None = None
    priorities: Json | None = None
    scores: Json | None = None
    preemption: Plan | None = None
    allocations: dict[str, list[str]] = {}
    http: list[Json] = []


class Step(_Form):
    """What the queue holds after an operation."""

    popped: str | None = None
    error: str = ""
    active: list[str] = []
    backoff: list[str] = []
    unschedulable: list[str] = []
    nominated: dict[str, list[str]] = {}


class Answer(_Form):
    """An error, the cycles of a problem or the steps of a script."""

    name: str
    error: str | UnsetType = UNSET
    cycles: Annotated[list[Cycle], Meta(min_length=1)] | UnsetType = UNSET
    steps: Annotated[list[Step], Meta(min_length=1)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if [self.error, self.cycles, self.steps].count(UNSET) != 2:
            raise ValueError("Expected one of error, cycles and steps, got several or none")


FIELDS = tuple(field for field in Cycle.__struct_fields__ if field != CALLS)
"""The fields of a cycle."""
STEP_FIELDS = Step.__struct_fields__


def check_case(case: Any, where: str) -> Json:
    """Return *case* if it is a scheduling problem or a script of the queue; else raise ManifestError with *where*, its file and line."""
    if isinstance(case, dict) and "script" in case:
        return _checked(case, Script, where)
    found = _checked(case, Problem, where)
    for number, item in enumerate(found["pending"]):
        if "event" in item:
            _checked(item, Event, f"{where}: pending[{number}]")
    return found


def check_answer(answer: Any, where: str) -> Json:
    """Return *answer* if it is an error, or has cycles or steps; else raise ManifestError with *where*, its file and line."""
    return _checked(answer, Answer, where)


def _checked(value: Any, form: type[_Form], where: str) -> Json:
    try:
        msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        told, _, path = str(error).replace("`", "").partition(" - at $")
        raise ManifestError(": ".join(filter(None, [where, path.strip("."), f"{told[:1].lower()}{told[1:]}"]))) from None
    found: Json = value
    return found
