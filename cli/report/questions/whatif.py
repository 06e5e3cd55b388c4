"""What would help a pod, for people: what keeps it from a node, and the changes in the order of how much they disturb."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import groupby

from ....api.words import count_of, listed, rounded
from ....simulation.explain.closeup import CloseUp
from ....simulation.whatif.change import Suggestion
from ....simulation.whatif.whatif import WhatIf
from ..explain.closeup import close_up_lines
from ..explain.explanation import lead_told
from ..prose import wrapped
from ..text import NO_HOST

GROUPS = {1: "Change the pod:", 2: "Change a node:", 3: "Change other pods:", 4: "Add a node:", 5: "Change the scheduler:"}
"""By the tens of how much a change disturbs."""
EDITED = ("pod ", "node ")
"""How the patches begin that ``--set`` takes."""


def what_if_lines(found: WhatIf, width: int | None, *, wide: bool = False) -> Iterator[str]:
    """What would help, in lines of at most *width* characters; *wide*: all about the wanted node."""
    explanation = found.explanation
    decision, question = explanation.decision, explanation.question
    yield f"{decision.pod.key}: {decision.host or NO_HOST}"
    if question.passed_over is not None:
        yield from wrapped([f"Not scheduled: {question.passed_over}."], width)
        return
    yield from wrapped([decision.error or ""], width)
    if explanation.close_up is not None and not found.fits:
        yield ""
        yield from close_up_lines(explanation, explanation.close_up, width) if wide else wrapped(_keeps(found, explanation.close_up), width)
    if found.fits:
        yield from wrapped([f"It gets {decision.host} as it is, so nothing has to change."], width)
        return
    yield from _suggestions(found, width)


def _suggestions(found: WhatIf, width: int | None) -> Iterator[str]:
    yield ""
    if not found.suggestions:
        yield from wrapped([f"No single change helps: {count_of(found.tried, 'decision')} tried."], width)
        return
    number = 0
    for group, members in groupby(found.suggestions, key=lambda one: one.disturbs // 10):
        yield GROUPS[group]
        for one in members:
            number += 1
            yield from wrapped([f"{number:>3}. {_told(one)}"], width, hanging="     ")
            yield from (f"     {_patch(text)}" for text in one.patch)
    yield f"(each was tried, as the cluster is when it is the pod's turn; {count_of(found.tried, 'decision')})"


def _told(one: Suggestion) -> str:
    leaves = f"; {listed(one.victims)} would have to leave" if one.victims else ""
    later = f", until {one.evicted_by} takes its place" if one.evicted_by is not None else ""
    return f"{one.change[0].upper()}{one.change[1:]} -> {one.host}{leaves}{later}"


def _patch(text: str) -> str:
    return f"--set {shlex.quote(text)}" if text.startswith(EDITED) else text


def _keeps(found: WhatIf, close: CloseUp) -> Iterator[str]:
    """What keeps the pod from the wanted node."""
    host = found.host
    if not close.fits:
        yield f"{close.node} does not fit: {'; '.join(close.reasons)}."
        for room in close.room:
            if room.missing:
                needs, free = rounded(room.resource, room.asked), rounded(room.resource, room.free)
                yield f"  {rounded(room.resource, room.missing)} {room.resource} more would do (needs {needs}, free {free})"
        return
    behind = [lead_told(lead) for lead in close.leads if lead.ahead < 0]
    if close.place is None:
        yield f"{close.node} fits, but the search had found enough nodes before it came there."
    elif behind:
        yield f"{close.node} fits, but {host} is better by: {listed(behind)}."
    else:
        yield f"{close.node} fits and is as good as {host}, which was taken of the best."
