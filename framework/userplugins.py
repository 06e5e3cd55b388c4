"""A user's own plugins: checked when they are registered, and behind guards when they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

from ..core.guard import (
    Check,
    RuleGuard,
    Unwanted,
    anything,
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
from .extensionpoints import POINTS
from .plugin import Plugin
from .queue.events import ClusterEvent
from .status import Code, Status

BESIDE = (
    "normalize_score", "kept_score", "kept_normalize", "unreserve", "events_to_register", "concerns", "filter_key", "score_key", "joins",
    "filter_clauses", "score_sums", "score_concerns",
)  # fmt: skip
"""Methods that the framework asks for beside those of the extension points."""
KNOWN = (*POINTS.values(), *BESIDE)
NEAR = 0.8
"""How like the name of a method must be to one that the framework asks for, to be taken for a slip."""


def check_methods(plugin: type[Plugin]) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` where a method is no extension point, but is called almost like one."""
    own = list(_methods(plugin))
    for name in own:
        near = _near(name)
        if near is not None:
            raise PolicyError(f'plugin "{plugin.name}": got a method {name}, which is no extension point; did you mean "{near}"?')
    if own and not any(hasattr(plugin, method) for method in POINTS.values()):
        raise PolicyError(f'plugin "{plugin.name}": got the methods {", ".join(own)}, wanted one of {", ".join(POINTS.values())}')


def _methods(plugin: type[Plugin]) -> Iterator[str]:
    """The public methods of its own that the framework does not ask for."""
    classes = [made for made in plugin.__mro__ if made not in (Plugin, *Plugin.__mro__)]
    names = dict.fromkeys(name for made in classes for name, value in vars(made).items() if callable(value) and not isinstance(value, type))
    return (name for name in names if not name.startswith("_") and name not in KNOWN and not hasattr(Plugin, name))


def _near(name: str) -> str | None:
    plain = {known.replace("_", ""): known for known in KNOWN}
    found = get_close_matches(name.replace("_", "").lower(), plain, n=1, cutoff=NEAR)
    return plain[found[0]] if found else None


# --- guards ---------------------------------------------------------------------------------------------------------


def made(kind: type[Plugin], *arguments: Any) -> Plugin:
    """A plugin of *kind*; one of a user's own is behind guards. Raises :class:`~kubeclassic.exceptions.RuleError` if it cannot be made."""
    if kind.__module__.startswith("kubeclassic.framework.plugins."):
        return kind(*arguments)
    plugin: Plugin = RuleGuard(f'plugin "{kind.name}"', kind)(*arguments)
    for point, check in CHECKS.items():
        _replace(plugin, point, partial(_guarded, check))
    for point in ("normalize_score", "kept_normalize"):
        _replace(plugin, point, _reduced)
    return plugin


def _replace(plugin: Plugin, point: str, guard: Callable[[Any, str], Any]) -> None:
    method = getattr(plugin, point, None)
    found = None if method is None else guard(method, f'plugin "{plugin.name}": {point}')
    if found is not method:
        object.__setattr__(plugin, point, found)  # the class may be frozen


def _guarded(check: Check, method: Any, what: str) -> Any:
    return guarded(what, method, check)


def _reduced(reduce: Any, what: str) -> Any:
    return guarded_reduce(what, reduce)


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


CHECKS: Mapping[str, Check] = {
    "pre_enqueue": _status,
    "less": _truth,
    "pre_filter": partial(_or_status, PreFilterResult),
    "filter": failures_of_batch,
    "post_filter": partial(_or_status, PostFilterResult),
    "pre_score": _status,
    "score": scores_of_batch,
    "kept_score": scores_of_batch,
    "reserve": _status,
    "unreserve": anything,
    "permit": _status,
    "pre_bind": _status,
    "bind": _status,
    "post_bind": anything,
    "events_to_register": _events,
    "concerns": _truth,
    "score_concerns": _truth,
    "filter_clauses": clauses,
    "score_sums": sums,
    "filter_key": hashable,
    "score_key": hashable,
}
"""Method -> what it may answer."""
