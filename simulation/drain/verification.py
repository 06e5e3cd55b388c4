"""Which of some nodes can go together: all of them are emptied at once on a new scheduler, until a pass ends without a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from ...api.record import Record
from .rules import DrainFlags
from .steadystate import SteadyState
from .trial import DrainTrial, NotDrainable

OnNode = Callable[[str], object]


def ignored(node: str) -> None:
    """Progress that is not shown."""


class StayingPod(Record):
    """A pod that a drain leaves on a node that can go."""

    pod: str
    node: str
    why: str


@attrs.frozen(eq=False)
class Verification:
    """The pass in which every node could go, and what failed in the passes before it."""

    can: tuple[str, ...]
    cannot: dict[str, str]
    """Node -> why."""
    trial: DrainTrial
    """The cluster after it."""
    staying: tuple[StayingPod, ...]


def verify(steady: SteadyState, nodes: Iterable[str], flags: DrainFlags, on_node: OnNode = ignored) -> Verification:
    """Empty *nodes*, in this order, after all of them are cordoned. A node that cannot go stays in service, and the others are tried again
    without it on a new scheduler, until all of a pass can go."""
    wanted, cannot = list(nodes), dict[str, str]()
    while True:
        trial = steady.trial(recreates_bare=flags.recreate_bare)
        refused = {name: why for name in wanted if (why := flags.sort(trial.pods_on(name)).refusal) is not None}
        wanted = [name for name in wanted if name not in refused]
        failed = empty_all(trial, wanted, flags, on_node)
        cannot |= refused | failed
        if not failed:
            staying = tuple(StayingPod(pod.key, name, why) for name in wanted for pod, why in flags.sort(trial.pods_on(name)).staying)
            return Verification(tuple(wanted), cannot, trial, staying)
        wanted = [name for name in wanted if name not in failed]


def empty_all(trial: DrainTrial, nodes: Sequence[str], flags: DrainFlags, on_node: OnNode = ignored) -> dict[str, str]:
    """Cordon *nodes*, then empty one after the other; those that fail, each with the reason, are as they were."""
    failed: dict[str, str] = {}
    for name in nodes:
        trial.cordon(name)
    for name in nodes:
        on_node(name)
        why = try_node(trial, name, flags)
        if why is not None:
            failed[name] = why
            trial.uncordon(name)
    return failed


def try_node(trial: DrainTrial, node: str, flags: DrainFlags) -> str | None:
    """Empty *node*, which is cordoned; answers why that failed, and then its pods are where they were."""
    try:
        with trial.savepoint() as point:
            trial.empty(node, flags.sort(trial.pods_on(node)).leaving, asks_budgets=not flags.disable_eviction)
            point.keep()
    except NotDrainable as error:
        return str(error)
    return None
