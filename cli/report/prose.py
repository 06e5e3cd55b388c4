"""Sentences for people, wrapped to the terminal's width, and decisions in a line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...exceptions import visible

if TYPE_CHECKING:
    from ...core.decision.decision import Decision

SHOWN_NODES = 3


def wrapped(sentences: Iterable[str], width: int | None, hanging: str = "") -> Iterator[str]:
    """Each of *sentences* on lines of its own, *width* characters at most; empty ones are left out.

    Its further lines begin as far to the right as the first, and with *hanging* there.
    """
    for sentence in map(visible, filter(None, sentences)):
        indent = " " * (len(sentence) - len(sentence.lstrip())) + hanging
        wrapper = textwrap.TextWrapper(width or 0, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        yield from wrapper.wrap(sentence) if width else [sentence]


def decision_text(decision: Decision, explain: bool) -> str:
    """A decision in one line; with *explain* also which nodes fit, and why others do not."""
    if decision.host is None:
        line = f"{decision.pod.key}: no node: {decision.error}"
        plan = decision.preemption
        if plan is not None and plan.node is not None:
            line += f" It makes room on {plan.node}: {', '.join(victim.key for victim in plan.victims)}."
    else:
        line = f"{decision.pod.key}: {decision.host}"
    return visible(line + (_explanation(decision) if explain else ""))


def _explanation(decision: Decision) -> str:
    scores = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:SHOWN_NODES]
    fit = f"{len(decision.feasible)} nodes fit" if decision.feasible else ""
    best = ", ".join(f"{name} {score}" for name, score in scores)
    reasons = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in list(decision.failed.items())[:SHOWN_NODES])
    told = "; ".join(filter(None, (fit, best and f"best {best}", reasons and f"not {reasons}")))
    return f" ({told})" if told else ""
