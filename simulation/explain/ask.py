"""The explanation of whatever a name means: a waiting pod, one that has a node, or one that is passed over."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from ...core.decision.decision import Decision
from ..simulate import Simulation
from .explain import explain, explain_in, explain_placed
from .explanation import Explanation
from .subject import Subject


def ask(
    simulation: Simulation, subject: Subject, scheduler_names: Collection[str], *, node: str | None = None, alone: bool = False
) -> Explanation:
    """Explain *subject* in a new *simulation*; *scheduler_names*: those whose pods are scheduled.

    *node*: look closely at this node. With *alone* the pods that are tried before it are not scheduled first.
    """
    question = subject.question(scheduler_names)
    if question.passed_over is not None:
        release = simulation.engine.release.version
        found = Explanation(Decision(subject.pod), (), was_scored=False, release=release)
    elif question.placed_on is not None:
        found = explain_placed(simulation, subject.pod, node=node)
    elif alone:
        simulation.begin()
        found = explain(simulation.engine, subject.pod, node=node)
    else:
        found = explain_in(simulation, subject.pod, node=node)
    return attrs.evolve(found, question=question)
