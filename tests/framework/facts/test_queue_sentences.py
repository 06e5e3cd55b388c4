"""The spec's sentences on hints and gangs of 1.35 and 1.36, one by one: the release before does not do
this."""

import pytest
import yaml

from kubeclassic.exceptions import PolicyError
from kubeclassic.simulation.conform import engine_for
from tests.framework.queue.test_queue_releases import Bench, named
from tests.support.build import node

APART = yaml.safe_load("""
    requiredDuringSchedulingIgnoredDuringExecution:
    - labelSelector:
        matchLabels: {app: web}
      topologyKey: zone
    """)
ANTI = {"podAntiAffinity": APART}
WANTS = {"podAffinity": APART}
WEB = {"app": "web"}


def waking(release, waiting, before, change):
    """Whether *waiting*, which InterPodAffinity rejected, wakes by *change*: an object that comes, or one of
    *before* that goes."""
    bench = Bench.of(release)
    bench.router.put(node("n", labels={"zone": "a"}))
    bench.failed(waiting, frozenset({"InterPodAffinity"}))
    for item in before:
        bench.router.put(item)
    assert bench.parts[2] == 1
    (bench.router.delete if change in before else bench.router.put)(change)
    return bench.parts[2] == 0


HINTS = {
    "an update of the waiting pod's own labels queues it": (
        named("p", labels={"app": "db"}, affinity=WANTS),
        [],
        named("p", labels={"app": "x"}, affinity=WANTS),
    ),
    "a deleted pod whose anti-affinity matched the waiting pod queues it": (
        named("p", labels=WEB, affinity=WANTS),
        [avoids := named("other", on="n", affinity=ANTI)],
        avoids,
    ),
    "pods that are nominated count like bound ones": (
        named("p", affinity=ANTI),
        [nominated := named("other", labels=WEB, status={"nominatedNodeName": "n"})],
        nominated,
    ),
}


@pytest.mark.parametrize("sentence", HINTS)
def test_hints_of_1_36(sentence):
    """1.36 wakes the pod, 1.35 does not."""
    assert [waking(release, *HINTS[sentence]) for release in ("1.35", "1.36")] == [False, True]


@pytest.mark.parametrize(
    "release, gates", [("1.35", ("GenericWorkload", "GangScheduling")), ("1.36", ("GenericWorkload",))]
)
def test_gangs_are_refused(release, gates):
    """Gangs are not built: a scheduler that was asked for them would decide otherwise than the original, so
    none is made."""
    with pytest.raises(PolicyError, match="this is not modelled"):
        engine_for(release, {"featureGates": dict.fromkeys(gates, True)})
