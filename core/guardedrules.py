"""A user's own predicates and priorities behind guards, and what they may answer."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from .arrays.batch import Batch
from .arrays.types import Scores
from .failures import Failures
from .guard import Method, Unwanted, described, frozen_view, guarded
from .rule import Predicate, Priority, Reduction

FAILURES = "Failures or None"


@attrs.frozen(kw_only=True, eq=False)
class GuardedPredicate(Predicate):
    """A predicate behind guards. It is pickled as the one that was *declared*, which a module may hold."""

    declared: Predicate

    def __reduce_ex__(self, protocol: Any) -> Any:
        return guarded_predicate, (self.declared,)


@attrs.frozen(kw_only=True, eq=False)
class GuardedPriority(Priority):
    """The same for a priority."""

    declared: Priority

    def __reduce_ex__(self, protocol: Any) -> Any:
        return guarded_priority, (self.declared,)


def guarded_predicate(rule: Predicate) -> Predicate:
    """*rule*, a user's own: whatever it does wrong is a :class:`~kubeclassic.exceptions.RuleError`."""
    if isinstance(rule, GuardedPredicate):
        return rule
    name = f'predicate "{rule.name}"'
    return GuardedPredicate(
        name=rule.name, reads=rule.reads, check=guarded(name, rule.check, failures_of_batch),
        concerns=guarded(f"{name}: concerns", rule.concerns), key=guarded(f"{name}: key", rule.key, hashable),
        effect=None if rule.effect is None else guarded(f"{name}: effect", rule.effect), declared=rule,
    )  # fmt: skip


def guarded_priority(rule: Priority) -> Priority:
    """The same for a priority."""
    if isinstance(rule, GuardedPriority):
        return rule
    name = f'priority "{rule.name}"'
    return GuardedPriority(
        name=rule.name, reads=rule.reads, whole_list=rule.whole_list, score=guarded(name, rule.score, scores_of_batch),
        concerns=guarded(f"{name}: concerns", rule.concerns), key=guarded(f"{name}: key", rule.key, hashable),
        reduce=guarded_reduce(f"{name}: reduce", rule.reduce), declared=rule,
    )  # fmt: skip


def guarded_reduce(name: str, reduce: Any) -> Any:
    """A reduce step, whole or in two halves; None stays None."""
    if isinstance(reduce, Reduction):
        summarise = guarded(name, unchanging(reduce.summarise), hashable)
        return attrs.evolve(reduce, summarise=summarise, apply=guarded(name, unchanging(reduce.apply), scores_of_raw))
    return None if reduce is None else guarded(name, unchanging(reduce), scores_of_raw)


@attrs.frozen(eq=False)
class Unchanging:
    """A step after the scores that cannot write to the raw ones that it is given, as these may be kept."""

    __wrapped__: Method

    def __call__(self, pod: Any, raw: Scores, *more: Any) -> Any:
        return self.__wrapped__(pod, frozen_view(raw), *more)


def unchanging(method: Method) -> Method:
    """*method*, a user's own, with raw scores that it cannot change."""
    return method if guarded("", method) is method else Unchanging(method)


# --- checks ---------------------------------------------------------------------------------------------------------


def failures_of_batch(answer: Any, arguments: tuple[Any, ...]) -> Failures | None:
    """The answer of a predicate on (pod, nodes, cycle)."""
    if answer is None:
        return None
    if not isinstance(answer, Failures):
        raise Unwanted(described(answer), FAILURES)
    fault = answer.fault(_batch(arguments).n)
    if fault is not None:
        raise Unwanted(*fault)
    return answer.detached()


def scores_of_batch(answer: Any, arguments: tuple[Any, ...]) -> Scores:
    """The answer of a score on (pod, nodes, cycle)."""
    return scores(answer, _batch(arguments).n)


def scores_of_raw(answer: Any, arguments: tuple[Any, ...]) -> Scores:
    """The answer of a reduce step on (pod, raw, ...)."""
    return scores(answer, len(arguments[1]))


def scores(answer: Any, n: int) -> Scores:
    """Scores of *n* nodes, in an array of their own, as those behind a batch change later."""
    if not isinstance(answer, np.ndarray) or answer.shape != (n,) or not np.can_cast(answer.dtype, np.int64):
        odd = isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and not np.isfinite(answer).all()
        raise Unwanted(described(answer) + (" with NaN or infinity in it" if odd else ""), f"whole numbers, int64[{n}]")
    return np.array(answer, np.int64)


def hashable(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """A key, by which answers are kept."""
    try:
        hash(answer)
    except TypeError:
        raise Unwanted(described(answer), "a hashable value, such as a text or a tuple") from None
    return answer


def _batch(arguments: tuple[Any, ...]) -> Batch:
    return next(argument for argument in arguments if isinstance(argument, Batch))
