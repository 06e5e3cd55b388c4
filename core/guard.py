"""Guards around a user's own rules: what they raise, and answers of a wrong kind, become one line that names the rule.

Upstream's own rules run without guards.
"""

from __future__ import annotations

import inspect
import os
import reprlib
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, TracebackType
from typing import Any, NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from ..api.objects.quantity import MAX_INT64
from ..exceptions import PolicyError, RuleError
from .arrays.batch import Batch
from .arrays.counts import Clause, Sums
from .arrays.types import Scores
from .failures import Failures
from .rule import Predicate, Priority, PriorityError, Reduction

Method = Callable[..., Any]
Check = Callable[[Any, tuple[Any, ...]], Any]
"""What a guard does with an answer to some arguments: gives it back, as the engine wants it, or raises :class:`Unwanted`."""
PASSING = (PriorityError, RuleError, PolicyError, BrokenPipeError)
"""What passes through a guard as it is: a rule may end the cycle, and the user the program."""
NOT_THE_USERS = frozenset({"kubeclassic", "numpy", *sys.stdlib_module_names})
"""Packages whose frames are none of the user's."""
MIN_INT64 = -MAX_INT64 - 1
TABLE_ARRAYS = ("limits", "sums", "has_node", "used")


def ends_program(error: BaseException) -> bool:
    """Whether *error* is the user's wish, or a signal's, that the program end; what a user's own code raises is none."""
    return isinstance(error, KeyboardInterrupt) or (not isinstance(error, Exception) and type(error).__module__.startswith("kubeclassic."))


class Unwanted(Exception):
    """An answer is not what is *wanted*; the text is what it is."""

    def __init__(self, answered: str, wanted: str) -> None:
        super().__init__(answered)
        self.wanted = wanted


def anything(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """The check that accepts every answer."""
    return answer


@attrs.frozen(eq=False, repr=False)
class RuleGuard:
    """Calls *method* of the rule that *name* gives, and checks its answer. Raises :class:`~kubeclassic.exceptions.RuleError`."""

    name: str
    method: Method
    check: Check = anything

    def __call__(self, *arguments: Any) -> Any:
        nodes = next((argument for argument in arguments if isinstance(argument, Batch)), None)
        try:
            if nodes is None:
                return self.check(self.method(*arguments), arguments)
            with read_only(nodes):
                return self.check(self.method(*arguments), arguments)
        except PASSING:
            raise
        except Unwanted as unwanted:
            refuse(self.name, self.method, str(unwanted), unwanted.wanted)
        except BaseException as error:  # a user's rule can ask the process to end, too
            if ends_program(error):
                raise
            raise _failed(self.name, self.method, error) from error


def guarded(name: str, method: Method, check: Check = anything) -> Method:
    """*method* behind a guard, unless it has one already or is one of ours; what wraps a user's function has ``__wrapped__``."""
    ours = str(getattr(method, "__module__", "")).startswith("kubeclassic.") and not hasattr(method, "__wrapped__")
    return method if ours or isinstance(method, RuleGuard) else RuleGuard(name, method, check)


def refuse(name: str, method: Method, answered: str, wanted: str) -> NoReturn:
    """Raise the error of an answer that the rule may not give."""
    raise RuleError(f"{name}{_definition(method)}: answered {answered}, wanted {wanted}")


def described(answer: Any) -> str:
    """*answer* in a few words.

    >>> described(None), described("x" * 100), described(np.zeros(3))
    ('None', "'xxxxxxxxxxxx...xxxxxxxxxxxxx'", 'float64[3]')
    """
    if isinstance(answer, np.ndarray):
        return f"{answer.dtype}[{', '.join(map(str, answer.shape))}]"
    try:
        return reprlib.repr(answer)
    except Exception:  # a user's __repr__ can fail, too
        return f"something of type {type(answer).__name__}"


def whole_number(answer: Any, node: str) -> int:
    """The score of *node*, which must be one of 64 bits."""
    if not isinstance(answer, int | np.integer) or not MIN_INT64 <= answer <= MAX_INT64:
        raise Unwanted(f'{described(answer)} for node "{node}"', "a whole number of 64 bits")
    return int(answer)


# --- errors ---------------------------------------------------------------------------------------------------------


def _failed(name: str, method: Method, error: BaseException) -> RuleError:
    """The error for what a rule raised; its frames are those of the user's own files."""
    frames = list(_frames(error.__traceback__))
    where = f" ({_short(frames[-1].filename)}, line {frames[-1].lineno})" if frames else _definition(method)
    return RuleError(f"{name}{where}: {_what(error)}", "".join(traceback.format_list(frames)))


def _what(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "called sys.exit, wanted an answer"
    if isinstance(error, ValueError) and "read-only" in str(error):
        return "changed an array that it was given, wanted a changed copy of it"
    text = str(error)
    return f"{type(error).__name__}: {text[:400]}{'...' * (len(text) > 400)}" if text else type(error).__name__


def _frames(trace: TracebackType | None) -> Iterator[traceback.FrameSummary]:
    for found, summary in zip(_frames_of(trace), traceback.extract_tb(trace), strict=True):
        if found.partition(".")[0] not in NOT_THE_USERS:
            yield summary


def _frames_of(trace: TracebackType | None) -> Iterator[str]:
    """The module of each frame."""
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next


def _definition(method: Method) -> str:
    """Where *method* is written, in brackets; nothing if that is not known."""
    plain = inspect.unwrap(method)
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    return f" ({_short(code.co_filename)}, line {code.co_firstlineno})" if isinstance(code, CodeType) else ""


def _short(file: str) -> str:
    """*file*, from the current folder on if it is in it."""
    here = os.getcwd() + os.sep
    return file.removeprefix(here)


# --- input that must stay as it is ----------------------------------------------------------------------------------


@contextmanager
def read_only(nodes: Batch) -> Iterator[None]:
    """While the context lasts, the arrays behind *nodes* cannot be written to, nor can views of them that are made meanwhile."""
    arrays = [array for array in _arrays(nodes) if array.flags.writeable]
    for array in arrays:
        array.flags.writeable = False
    try:
        yield
    finally:
        for array in arrays:
            array.flags.writeable = True


def _arrays(nodes: Batch) -> Iterator[NDArray[Any]]:
    """The table's arrays, then those of the batch itself, which can be views of the former."""
    yield from (getattr(nodes.table, name) for name in TABLE_ARRAYS)
    for value in vars(nodes).values():
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray):
                yield array


def frozen_view(array: NDArray[Any]) -> NDArray[Any]:
    """*array*, not to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


FAILURES = "Failures or None"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GuardedPredicate(Predicate):
    """A predicate behind guards. It is pickled as the one that was *declared*, which a module may hold."""

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
    """*rule*, a user's own: whatever it does wrong is a :class:`~kubeclassic.exceptions.RuleError`."""
    if isinstance(rule, GuardedPredicate):
        return rule
    methods = _guarded(f'predicate "{rule.name}"', rule, "check", failures_of_batch, effect=anything, clauses=clauses)
    return GuardedPredicate(name=rule.name, reads=rule.reads, declared=rule, **methods)


def guarded_priority(rule: Priority) -> Priority:
    """The same for a priority."""
    if isinstance(rule, GuardedPriority):
        return rule
    name = f'priority "{rule.name}"'
    methods = _guarded(name, rule, "score", scores_of_batch, sums=sums) | {"reduce": guarded_reduce(f"{name}: reduce", rule.reduce)}
    return GuardedPriority(name=rule.name, reads=rule.reads, whole_list=rule.whole_list, declared=rule, **methods)


def _guarded(name: str, rule: Predicate | Priority, main: str, check: Check, **checks: Check) -> dict[str, Any]:
    """The methods that *rule* has behind guards: the *main* one, which goes by the name of the rule, and others with their *checks*."""
    found = {main: guarded(name, getattr(rule, main), check)}
    for part, wanted in {"concerns": anything, "key": hashable, **checks}.items():
        if (method := getattr(rule, part)) is not None:
            found[part] = guarded(f"{name}: {part}", method, wanted)
    return found


def guarded_reduce(name: str, reduce: Any) -> Any:
    """A reduce step, whole or in two halves; None stays None."""
    if isinstance(reduce, Reduction):
        summarise = guarded(name, unchanging(reduce.summarise), hashable)
        ours = summarise is reduce.summarise
        scale, column = (reduce.scale, reduce.column) if ours else (None, None)  # a user's own is asked for all scores
        apply = guarded(name, unchanging(reduce.apply), scores_of_raw)
        return attrs.evolve(reduce, summarise=summarise, apply=apply, scale=scale, column=column)
    return None if reduce is None else guarded(name, unchanging(reduce), scores_of_raw)


@attrs.frozen(eq=False, repr=False)
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


def clauses(answer: Any, arguments: tuple[Any, ...]) -> list[Clause] | None:
    """What a predicate declares."""
    if answer is not None and not (isinstance(answer, list | tuple) and all(isinstance(each, Clause) for each in answer)):
        raise Unwanted(described(answer), "a list of Clauses, or None")
    return None if answer is None else list(answer)


def sums(answer: Any, arguments: tuple[Any, ...]) -> Sums | None:
    """What a priority declares."""
    if answer is not None and not isinstance(answer, Sums):
        raise Unwanted(described(answer), "Sums, or None")
    return answer


def hashable(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """A key, by which answers are kept."""
    try:
        hash(answer)
    except TypeError:
        raise Unwanted(described(answer), "a hashable value, such as a text or a tuple") from None
    return answer


def _batch(arguments: tuple[Any, ...]) -> Batch:
    return next(argument for argument in arguments if isinstance(argument, Batch))
