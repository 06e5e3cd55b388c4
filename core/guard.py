"""Guards around a user's own rules: exceptions and answers of a wrong kind become one line that names the
rule.

Upstream's own rules run without guards.
"""

from __future__ import annotations

import inspect
import os
import reprlib
import sys
import traceback
import warnings
from collections.abc import Callable, Collection
from types import CodeType
from typing import Any

import attrs
import numpy as np

from ..api.objects import MAX_INT64
from ..exceptions import PolicyError, RuleError, RuleWarning, did_you_mean
from .arrays import WATCHER, Batch, Clause, ColumnView, Failures, Scores, Sums
from .cycle import Predicate, Priority, PriorityError, Reduction

Method = Callable[..., Any]
Check = Callable[[Any, tuple[Any, ...]], Any]
"""A function of an answer and the arguments: it returns the answer in the engine's form, or raises
:class:`WrongAnswer`."""
PASSING = (PriorityError, RuleError, PolicyError, BrokenPipeError)
"""Exceptions that pass through a guard: a rule may end the cycle, and the user the program."""
NOT_THE_USERS = frozenset({"kubeclassic", "numpy", "attr", *sys.stdlib_module_names})
"""Packages whose frames are not the user's."""
MIN_INT64 = -MAX_INT64 - 1


def ends_program(error: BaseException) -> bool:
    """Whether *error* is the user's, or a signal's, request to end the program; an exception of the user's
    own code is not."""
    return isinstance(error, KeyboardInterrupt) or (
        not isinstance(error, Exception) and type(error).__module__.startswith("kubeclassic.")
    )


class WrongAnswer(Exception):
    """An answer is not as *wanted*; the text describes it."""

    def __init__(self, answered: str, wanted: str) -> None:
        super().__init__(answered)
        self.wanted = wanted


def described(answer: Any) -> str:
    """A description of *answer* in a few words.

    >>> described(None), described("x" * 100), described(np.zeros(3))
    ('None', "'xxxxxxxxxxxx...xxxxxxxxxxxxx'", 'float64[3]')
    """
    if isinstance(answer, np.ndarray):
        return f"{answer.dtype}[{', '.join(map(str, answer.shape))}]"
    return reprlib.repr(answer)


@attrs.frozen(eq=False, repr=False)
class RuleGuard:
    """A call of *method* of the rule called *name*, which checks the answer. Raises
    :class:`~kubeclassic.exceptions.RuleError`."""

    name: str
    method: Method
    check: Check | None = None

    def __call__(self, *arguments: Any) -> Any:
        watching = WATCHER.set(self._warn_missing)
        try:
            answer = self.method(*map(read_only, arguments))
            return answer if self.check is None else self.check(answer, arguments)
        except PASSING:
            raise
        except WrongAnswer as unwanted:
            raise RuleError(
                f"{self.name}{_definition(self.method)}: expected {unwanted.wanted}, got {unwanted}"
            ) from None
        except BaseException as error:  # a user's rule can ask the process to end, too
            if ends_program(error):
                raise
            raise _rule_error(self.name, self.method, error) from error
        finally:
            WATCHER.reset(watching)

    def _warn_missing(self, resource: str, resources: Collection[str]) -> None:
        if resources:
            suggestion = did_you_mean(resource, resources)
            text = f"{self.name}: asks for {resource}, which no node has; there are {', '.join(resources)}{suggestion}"
            warnings.warn(text, RuleWarning, stacklevel=3)


class ReadOnlyNodes:
    """The nodes as a user's rule sees them: only new arrays, as from ``none()``, can be written to."""

    def __init__(self, nodes: Batch) -> None:
        self._nodes = nodes

    def __repr__(self) -> str:
        return repr(self._nodes)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._nodes, name)
        if name in ("zeros", "none", "every"):
            return value
        if inspect.ismethod(value):
            return lambda *arguments, **named: read_only(value(*arguments, **named))
        return read_only(value)


def read_only(value: Any) -> Any:
    """*value* for a user's rule, so that it cannot be changed: it may be the cluster's own, or kept for
    others."""
    if isinstance(value, Batch):
        return ReadOnlyNodes(value)
    if isinstance(value, ColumnView):
        return attrs.evolve(value, codes=read_only(value.codes))
    if type(value) is tuple:
        return tuple(map(read_only, value))
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def guarded(name: str, method: Method, check: Check | None = None) -> Method:
    """*method* behind a guard, unless it has one already or is one of ours; a wrapper of a user's function
    has ``__wrapped__``."""
    is_ours = str(getattr(method, "__module__", "")).startswith("kubeclassic.") and not hasattr(
        method, "__wrapped__"
    )
    return method if is_ours or isinstance(method, RuleGuard) else RuleGuard(name, method, check)


def users_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the traceback of *error* that are in the user's own files."""
    steps = zip(
        traceback.walk_tb(error.__traceback__), traceback.extract_tb(error.__traceback__), strict=True
    )
    return [
        summary
        for (frame, _), summary in steps
        # Generated code, such as that of attrs, has no module.
        if frame.f_globals.get("__name__", "kubeclassic").partition(".")[0] not in NOT_THE_USERS
    ]


def _rule_error(name: str, method: Method, error: BaseException) -> RuleError:
    """The error for an exception of a rule, with the frames of the user's own files."""
    frames = users_frames(error)
    where = f" ({_short(frames[-1].filename)}, line {frames[-1].lineno})" if frames else _definition(method)
    text = str(error)
    if isinstance(error, ValueError) and text.endswith("is read-only"):
        text += "; others read the array too: compute a new one, such as a = a - b in place of a -= b"
    if text:
        description = f"{type(error).__name__}: {text[:400]}{'...' * (len(text) > 400)}"
    else:
        description = type(error).__name__
    if isinstance(error, SystemExit):
        description = "expected an answer, got a call of sys.exit"
    return RuleError(f"{name}{where}: {description}", "".join(traceback.format_list(frames)))


def _definition(method: Method) -> str:
    """The file and line of *method*, in brackets; nothing if that is not known."""
    plain = inspect.unwrap(method)
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    return f" ({_short(code.co_filename)}, line {code.co_firstlineno})" if isinstance(code, CodeType) else ""


def _short(file: str) -> str:
    return file.removeprefix(os.getcwd() + os.sep)


# --- rules --------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GuardedPredicate(Predicate):
    """A predicate behind guards. It is pickled as the *declared* one, which a module may hold."""

    declared: Predicate

    def __reduce_ex__(self, protocol: Any) -> Any:
        return guarded_predicate, (self.declared,)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GuardedPriority(Priority):
    """The same for a priority."""

    declared: Priority

    def __reduce_ex__(self, protocol: Any) -> Any:
        return guarded_priority, (self.declared,)


def guarded_predicate(rule: Predicate) -> Predicate:
    """*rule*, a user's own, behind guards: all its faults raise
    :class:`~kubeclassic.exceptions.RuleError`."""
    if isinstance(rule, GuardedPredicate):
        return rule
    methods = _guarded(
        f'predicate "{rule.name}"', rule, "check", failures_of_batch, effect=None, clauses=clauses
    )
    return GuardedPredicate(name=rule.name, reads=rule.reads, declared=rule, **methods)


def guarded_priority(rule: Priority) -> Priority:
    """The same for a priority."""
    if isinstance(rule, GuardedPriority):
        return rule
    name = f'priority "{rule.name}"'
    methods = _guarded(name, rule, "score", scores_of_batch, sums=sums) | {
        "reduce": guarded_reduce(f"{name}: reduce", rule.reduce)
    }
    return GuardedPriority(
        name=rule.name, reads=rule.reads, whole_list=rule.whole_list, declared=rule, **methods
    )


def _guarded(
    name: str, rule: Predicate | Priority, main: str, check: Check, **checks: Check | None
) -> dict[str, Any]:
    """The methods of *rule* behind guards: the *main* one, named after the rule, and others with their
    *checks*."""
    methods = {main: guarded(name, getattr(rule, main), check)}
    for part, part_check in {"concerns": None, "key": hashable, **checks}.items():
        if (method := getattr(rule, part)) is not None:
            methods[part] = guarded(f"{name}: {part}", method, part_check)
    return methods


def guarded_reduce(name: str, reduce: Any) -> Any:
    """A reduce step, or its scale; None stays None."""
    if not isinstance(reduce, Reduction):
        return None if reduce is None else guarded(name, reduce, scores_of_raw)
    return attrs.evolve(reduce, scale=guarded(name, reduce.scale, None))


# --- checks -------------------------------------------------------------------------------------------------


def whole_number(answer: Any, node: str) -> int:
    """The score of *node*, which must be a whole number of 64 bits."""
    if not isinstance(answer, int | np.integer) or not MIN_INT64 <= answer <= MAX_INT64:
        raise WrongAnswer(f'{described(answer)} for node "{node}"', "a whole number of 64 bits")
    return int(answer)


def failures_of_batch(answer: Any, arguments: tuple[Any, ...]) -> Failures | None:
    """The answer of a predicate on (pod, nodes, cycle)."""
    if answer is None:
        return None
    if not isinstance(answer, Failures):
        raise WrongAnswer(described(answer), "Failures or None")
    if (fault := answer.fault(_batch(arguments).n)) is not None:
        raise WrongAnswer(*fault)
    return answer.detached()


def scores_of_batch(answer: Any, arguments: tuple[Any, ...]) -> Scores:
    """The answer of a score on (pod, nodes, cycle)."""
    return _scores(answer, _batch(arguments).n)


def scores_of_raw(answer: Any, arguments: tuple[Any, ...]) -> Scores:
    """The answer of a reduce step on (pod, raw, ...)."""
    return _scores(answer, len(arguments[1]))


def _scores(answer: Any, n: int) -> Scores:
    """Scores of *n* nodes, in an array of their own, as those behind a batch change later."""
    if not isinstance(answer, np.ndarray) or answer.shape != (n,) or not np.can_cast(answer.dtype, np.int64):
        raise WrongAnswer(described(answer), f"whole numbers, int64[{n}]")
    return np.array(answer, np.int64)


def clauses(answer: Any, arguments: tuple[Any, ...]) -> list[Clause] | None:
    """The clauses that a predicate declares."""
    if answer is not None and not (
        isinstance(answer, list | tuple) and all(isinstance(clause, Clause) for clause in answer)
    ):
        raise WrongAnswer(described(answer), "a list of Clauses, or None")
    return None if answer is None else list(answer)


def sums(answer: Any, arguments: tuple[Any, ...]) -> Sums | None:
    """The sums that a priority declares."""
    if answer is not None and not isinstance(answer, Sums):
        raise WrongAnswer(described(answer), "Sums, or None")
    return answer


def hashable(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """A key, by which answers are kept."""
    try:
        hash(answer)
    except TypeError:
        raise WrongAnswer(described(answer), "a hashable value, such as a text or a tuple") from None
    return answer


def picked(answer: Any, arguments: tuple[Any, ...]) -> tuple[int, bool]:
    """The answer of a tie-break on (number of nodes, lastNodeIndex)."""
    match answer:
        case (int() | np.integer() as which, bool() | np.bool_() as moves) if 0 <= which < arguments[0]:
            return int(which), bool(moves)
    raise WrongAnswer(described(answer), f"a number below {arguments[0]}, and True or False")


def _batch(arguments: tuple[Any, ...]) -> Batch:
    return next(argument for argument in arguments if isinstance(argument, Batch))
