"""Two changes together, for a pod that no single one helps: one of the pod first, then one of what is in its way after that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import attrs

from ..explain.explain import explain
from .change import DISTURBS, Helpful, WhatIfChange
from .context import WhatIfContext

FIRSTS = 4
"""How many changes of the pod are tried as the first one."""
SECONDS = 10
"""How many changes of a kind are tried after it."""
Family = Callable[[WhatIfContext], Iterator[WhatIfChange]]


def together(context: WhatIfContext, firsts: Sequence[WhatIfChange], families: Sequence[Family]) -> Iterator[Helpful]:
    """Pairs that help: one of *firsts*, which are about the pod itself, and the smallest second one of each of *families*."""
    for first in firsts:
        if first.pod is None:
            continue
        after = attrs.evolve(context, pod=first.pod, reports=explain(context.engine, first.pod, node=context.want).nodes)
        for family in families:
            changes = sorted(islice(family(after), SECONDS), key=lambda change: (change.disturbs, change.size))
            found = next((one for second in changes if (one := after.helpful(second)) is not None), None)
            if found is not None:
                yield _both(first, found)
        context.tried = after.tried


def of_the_pod(context: WhatIfContext, families: Sequence[Family]) -> Iterator[WhatIfChange]:
    """The first change of the pod alone of each family."""
    for family in families:
        changes = (change for change in family(context) if change.pod is not None and not (change.nodes or change.pods or change.gone))
        yield from islice(changes, 1)


def _both(first: WhatIfChange, found: Helpful) -> Helpful:
    second = found.change
    kind = max(first.kind, second.kind, key=lambda kind: DISTURBS[kind])
    change = attrs.evolve(
        second, kind=kind, words=f"{first.words}; and {second.words}", patch=(*first.patch, *second.patch), pod=second.pod or first.pod,
        corrects=first.corrects and DISTURBS[kind] < DISTURBS["uncordon"],
    )  # fmt: skip
    return Helpful.of(change, found.suggestion.host, found.suggestion.victims)
