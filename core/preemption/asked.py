"""Who has to leave some nodes besides pods that somebody else chose already, as a caller of the extender server asks."""

from __future__ import annotations

from collections.abc import Collection

import attrs
import numpy as np

from ...api.objects import Pod
from ..arrays.types import Mask
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..decision.preemptionplan import Victims
from .budgets import Protection
from .dryrun import ArrayTrial, OverlayTrial, coming_pods, is_plain
from .layout import PotentialVictims
from .lockstep import Trial, reprieve
from .victimchoice import Candidates


def victims_beside(
    cycle: Cycle,
    nominations: Nominations,
    potential: PotentialVictims,
    protection: Protection,
    given: Collection[str],
    incoming: Pod | None = None,
) -> dict[str, Victims]:
    """Node -> its victims: the pods with the UIDs *given*, and the fewest others that have to leave as well.

    Only the rows of *potential* where the pod then fits are in the answer. *incoming*: as for an :class:`OverlayTrial`.
    """
    trial = _begin(cycle, nominations, potential, incoming)
    fitting = np.flatnonzero(trial.judge().fits)
    potential = potential.some(fitting)
    potential = potential.protecting(protection(potential))
    leaving = _chosen(potential, frozenset(given))
    others = attrs.evolve(potential, there=potential.there & ~leaving)
    return Candidates.of(potential, reprieve(trial.some(fitting, others)) | leaving).spelled_out()


def _begin(cycle: Cycle, nominations: Nominations, potential: PotentialVictims, incoming: Pod | None) -> Trial:
    coming = coming_pods(cycle, nominations)
    if is_plain(cycle, coming):
        return ArrayTrial.of(cycle, coming, potential)
    return OverlayTrial.of(cycle, nominations, potential, incoming)


def _chosen(potential: PotentialVictims, uids: frozenset[str]) -> Mask:
    """Which of the potential victims have one of *uids*: bool[places, k]."""
    found = np.zeros_like(potential.there)
    for place, i in np.argwhere(potential.there).tolist() if uids else ():
        found[place, i] = potential.entry(place, i).pod.uid in uids
    return found
