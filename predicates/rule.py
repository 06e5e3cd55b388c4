"""The decorator of predicates: ``@predicate(name, reads=..., key=...)`` over a function of (pod, nodes,
cycle)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence

from ..core.arrays import Batch, Clause, Failures, Reason, Reasons
from ..core.cycle import Cycle, Predicate, Reads, every_pod
from ..core.guard import Unwanted, described
from ..core.pods import Template

Check = Callable[[Template, Batch, Cycle], Failures | None]
EachNode = Callable[[Template, Batch, int, Cycle], Iterable[Reason] | str | None]


class _Declare:
    """The decorator; :meth:`each_node` is its slow and easy form."""

    def __call__(
        self,
        name: str,
        *,
        reads: Reads,
        key: Callable[[Template], Hashable] = lambda pod: pod,
        effect: Callable[[Template, Batch, Cycle], None] | None = None,
        concerns: Callable[[Template], bool] = every_pod,
        clauses: Callable[[Template, Cycle], Sequence[Clause] | None] | None = None,
        parts: Sequence[Predicate] = (),
    ) -> Callable[[Check], Predicate]:
        """Declare a predicate that judges all nodes of a batch at once; None from it means nothing to object."""
        return lambda check: Predicate(
            name=name,
            check=check,
            reads=reads,
            key=key,
            effect=effect,
            concerns=concerns,
            clauses=clauses,
            parts=parts,
        )

    def each_node(
        self,
        name: str,
        *,
        reads: Reads = Reads.NODE | Reads.REQUESTS | Reads.PORTS | Reads.PODS,
        key: Callable[[Template], Hashable] = lambda pod: pod,
    ) -> Callable[[EachNode], Predicate]:
        """Declare a predicate that is asked node by node: ``(pod, nodes, i, cycle)`` -> reasons against node
        *i*, or an error's text."""

        def declare(ask: EachNode) -> Predicate:
            @functools.wraps(ask)
            def check(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
                return Failures.of_rows(
                    [_outcome(ask(pod, nodes, i, cycle), nodes, i) for i in range(nodes.n)]
                )

            return Predicate(name=name, check=check, reads=reads, key=key)

        return declare


def _outcome(answer: object, nodes: Batch, i: int) -> Reasons | str | None:
    """The answer about node *i*, of the kind that is wanted."""
    if answer is None or isinstance(answer, str):
        return answer
    if isinstance(answer, Iterable):
        found = tuple(answer)
        if all(isinstance(reason, Reason) for reason in found):
            return found
        answer = found
    raise Unwanted(
        f'{described(answer)} for node "{nodes.name(i)}"', "None, a tuple of Reasons, or a text for an error"
    )


predicate: _Declare = _Declare()


def has_volumes(pod: Template) -> bool:
    """Whether *pod* has any volume: rules about volumes do not concern other pods."""
    return bool(pod.volumes)
