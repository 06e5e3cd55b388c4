"""A user's own plugins: checked when they are registered, and behind guards when they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

from ..core.guard import (
    Check,
    RuleGuard,
    Unwanted,
    clauses,
    described,
    failures_of_batch,
    guarded,
    guarded_reduce,
    hashable,
    scores_of_batch,
    sums,
)
from ..exceptions import PolicyError
from .cycle.state import PostFilterResult, PreFilterResult
from .plugin import Plugin
from .queue.events import ClusterEvent
from .status import POINTS, Code, Status

BESIDE = (
    "normalize_score",
    "kept_score",
    "kept_normalize",
    "unreserve",
    "events_to_register",
    "concerns",
    "filter_key",
    "score_key",
    "joined",
    "filter_clauses",
    "score_sums",
    "score_concerns",
)
"""Methods that the framework asks for beside those of the extension points."""
REDUCES = ("normalize_score", "kept_normalize")


def check_methods(plugin: type[Plugin]) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` where a method is called almost like an extension
    point, or no method is one."""
    own = [
        name
        for name in dir(plugin)
        if not name.startswith("_") and not hasattr(Plugin, name) and callable(getattr(plugin, name))
    ]
    known = (*POINTS.values(), *BESIDE)
    others = [name for name in own if name not in known]
    for name in others:
        if near := get_close_matches(name.lower(), known, n=1, cutoff=0.8):
            raise PolicyError(
                f'plugin "{plugin.name}": got a method {name}, which is no extension point; did you mean "{near[0]}"?'
            )
    if others and not any(hasattr(plugin, method) for method in POINTS.values()):
        raise PolicyError(
            f'plugin "{plugin.name}": expected one of {", ".join(POINTS.values())}, got the methods {", ".join(others)}'
        )


# --- guards -------------------------------------------------------------------------------------------------


def made(kind: type[Plugin], *arguments: Any) -> Plugin:
    """A plugin of *kind*; one of a user's own is behind guards. Raises
    :class:`~kubeclassic.exceptions.RuleError` if it cannot be made."""
    if kind.__module__.startswith("kubeclassic.framework.plugins."):
        return kind(*arguments)
    name = f'plugin "{kind.name}"'
    plugin: Plugin = RuleGuard(name, kind)(*arguments)
    for point in (*CHECKS, *REDUCES):
        method: Any = getattr(plugin, point, None)
        if getattr(method, "__func__", method) is not getattr(Plugin, point, None):  # else it is ours
            what = f"{name}: {point}"
            object.__setattr__(  # the class may be frozen
                plugin,
                point,
                guarded_reduce(what, method) if point in REDUCES else guarded(what, method, CHECKS[point]),
            )
    return plugin


def _status(answer: Any, arguments: tuple[Any, ...]) -> Status | None:
    """A status of a code and texts, or None."""
    if answer is None:
        return None
    if not isinstance(answer, Status) or not isinstance(answer.code, Code):
        raise Unwanted(described(answer), "a Status or None")
    if not isinstance(answer.reasons, tuple) or not all(isinstance(reason, str) for reason in answer.reasons):
        raise Unwanted(f"a Status with the reasons {described(answer.reasons)}", "a tuple of texts")
    return answer


def _or_status(kind: type[Any], answer: Any, arguments: tuple[Any, ...]) -> Any:
    """A result of *kind*, or a status."""
    if isinstance(answer, kind):
        return answer
    if answer is not None and not isinstance(answer, Status):
        raise Unwanted(described(answer), f"a {kind.__name__}, a Status or None")
    return _status(answer, arguments)


def _truth(answer: Any, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(answer, bool) and type(answer).__name__ != "bool_":
        raise Unwanted(described(answer), "True or False")
    return bool(answer)


def _events(answer: Any, arguments: tuple[Any, ...]) -> Sequence[ClusterEvent]:
    if not isinstance(answer, Sequence) or not all(isinstance(event, ClusterEvent) for event in answer):
        raise Unwanted(described(answer), "a list of ClusterEvents")
    return answer


CHECKS: Mapping[str, Check | None] = {
    "pre_enqueue": _status,
    "less": _truth,
    "pre_filter": partial(_or_status, PreFilterResult),
    "filter": failures_of_batch,
    "post_filter": partial(_or_status, PostFilterResult),
    "pre_score": _status,
    "score": scores_of_batch,
    "kept_score": scores_of_batch,
    "reserve": _status,
    "unreserve": None,
    "permit": _status,
    "pre_bind": _status,
    "bind": _status,
    "post_bind": None,
    "events_to_register": _events,
    "concerns": _truth,
    "score_concerns": _truth,
    "filter_clauses": clauses,
    "score_sums": sums,
    "filter_key": hashable,
    "score_key": hashable,
}
"""Method -> the check of its answer; None: any will do."""
