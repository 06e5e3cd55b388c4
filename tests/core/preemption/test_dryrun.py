"""The dry run of preemption: arrays find what overlays find."""

import numpy as np
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from kubeclassic.core.preemption.dryrun import (
    ArrayTrial,
    OverlayTrial,
    coming_pods,
    counted_down,
    dry_run,
    exhausted,
    is_plain,
)
from kubeclassic.core.preemption.victimchoice import PodLayout, PotentialVictims
from kubeclassic.framework.plugin import FrameworkCycle
from tests.support.build import engine, node, pod
from tests.support.crowds import RELEASES, begun, crowds
from tests.support.examples import examples
from tests.support.frameworkbuild import enabled, scheduler

RESOURCES_FIRST = {"plugins": {"filter": enabled("NodeResourcesFit")}}


def tried(cycle, made, *, by_arrays):
    """The candidates, what stands against other nodes, and which node would be chosen, over all nodes."""
    rows = np.array([made.table.row_of[name] for name in sorted(made.table.row_of)], np.intp)
    potential = PodLayout(made.table, cycle.release.preemption.by_start_time).lower_than(
        cycle.pod.priority, rows
    )
    overlays = OverlayTrial.of(cycle, made.nominations, potential)
    trial = ArrayTrial.of(cycle, coming_pods(cycle, made.nominations), potential) if by_arrays else overlays
    protection = counted_down if isinstance(cycle, FrameworkCycle) else exhausted
    found, verdict = dry_run(trial, protection(cycle.listings.budgets))
    candidates = {name: ([p.key for p in v.pods], v.violations) for name, v in found.spelled_out().items()}
    return (
        candidates,
        verdict.tally(np.flatnonzero(~verdict.fits)),
        found.name(found.pick()) if len(found) else None,
    )


@examples(0.6)
@given(crowds(), st.sampled_from(RELEASES), st.booleans())
def test_arrays_find_what_overlays_find(crowd, release, resources_first):
    """Both find the same candidates, victims in the same order, violations, reasons and choice, also where
    the pod would fit as it is."""
    made = crowd.engine(release, RESOURCES_FIRST if resources_first else None)
    cycle = begun(made, crowd.incoming)
    assert is_plain(cycle, coming_pods(cycle, made.nominations))
    assert tried(cycle, made, by_arrays=True) == tried(cycle, made, by_arrays=False)


@examples(0.6)
@given(crowds(with_terms=True), st.sampled_from(RELEASES))
def test_rules_that_count_nobody_are_not_in_the_way(crowd, release):
    """Where sums are said to be enough they are, whatever pods want of others that are not there."""
    made = crowd.engine(release)
    cycle = begun(made, crowd.incoming)
    assume(is_plain(cycle, coming_pods(cycle, made.nominations)))
    assert tried(cycle, made, by_arrays=True) == tried(cycle, made, by_arrays=False)


def are_enough(cycle, nominations):
    """Whether sums are."""
    return is_plain(cycle, coming_pods(cycle, nominations))


class TestWhereSumsAreEnough:
    def cycle(self, incoming, *there, release="1.16"):
        """A cycle for *incoming* on a node with pods."""
        objects = (node("n0", labels={"kubernetes.io/hostname": "n0"}), *there)
        made = (
            scheduler(*objects)
            if release == RELEASES[-1]
            else engine(*objects, release=release, gates={"EvenPodsSpread": True})
        )
        return begun(made, incoming), made.nominations

    @pytest.mark.parametrize("release", ["1.16", "1.27"])
    def test_ports_and_terms_go_the_long_way(self, release):
        """A pod that asks for a host port, or that other pods' anti-affinity is about, cannot be judged by
        sums."""
        ports = yaml.safe_load("[{name: c, image: i, ports: [{hostPort: 80, containerPort: 80}]}]")
        shy = pod("shy", on="n0", affinity=refusing("p"))
        assert not are_enough(*self.cycle(pod("p", containers=ports), shy, release=release))
        assert not are_enough(*self.cycle(pod("p", app="p"), shy, release=release))
        assert are_enough(*self.cycle(pod("p", app="q"), shy, release=release))

    @pytest.mark.parametrize("release", ["1.16", "1.27"])
    def test_volumes_go_the_long_way(self, release):
        """A pod with a volume cannot be judged by sums."""
        volume = {"name": "v", "gcePersistentDisk": {"pdName": "d"}}
        assert not are_enough(*self.cycle(pod("p", volumes=[volume]), release=release))

    def test_nominated_pods_can_be_what_is_counted(self):
        """Nobody there is counted by a spread constraint, but a nominated pod would be."""
        constraint = yaml.safe_load("""
        maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: a}
        """)
        cycle, nominations = self.cycle(pod("p", app="a", priority=5, topologySpreadConstraints=[constraint]))
        assert are_enough(cycle, nominations)
        nominations.add(pod("other", app="b", priority=9, nominated="n0"), "n0")
        assert are_enough(cycle, nominations)
        nominations.add(pod("peer", app="a", priority=9, uid="u", nominated="n0"), "n0")
        assert not are_enough(cycle, nominations)

    def test_nominated_pods_can_refuse(self):
        """Nobody there cares who is near, but a nominated pod does."""
        cycle, nominations = self.cycle(pod("p", app="a", priority=5))
        shy = pod("shy", priority=9, affinity=refusing("a"), nominated="n0")
        nominations.add(shy, "n0")
        assert not are_enough(cycle, nominations)

    @pytest.mark.parametrize("release", RELEASES[-2:])
    def test_sums_that_wrap(self, release):
        """Beside a nominated pod the sum of what both ask for wraps, and the pod would fit; without it, it does
        not."""
        much = {"example.com/gpu": str(2**63 - 1)}
        cycle, nominations = self.cycle(pod("p", priority=5, requests=much), release=release)
        assert are_enough(cycle, nominations)
        nominations.add(pod("w", priority=9, nominated="n0", requests=much), "n0")
        assert not are_enough(cycle, nominations)

    def test_without_answers(self):
        """Where no answers are kept nothing tells what rules count."""
        cycle, nominations = self.cycle(pod("p"))
        cycle.answers = None
        assert not are_enough(cycle, nominations)


def refusing(app):
    """An affinity that refuses pods of *app* on its node."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_a_nominated_pod_takes_its_room():
    """Room that a pod of higher priority waits for is not counted as free."""
    made = engine(*[node(f"n{i}", cpu="2") for i in range(3)], pod("e", on="n0", cpu="2"))
    made.nominations.add(pod("w", cpu="2", priority=9, nominated="n0"), "n0")
    cycle = begun(made, pod("p", cpu="1", priority=5))
    fast = tried(cycle, made, by_arrays=True)
    slow = tried(cycle, made, by_arrays=False)
    assert fast == slow
    assert "n0" not in fast[0]


def test_rows_that_were_never_laid_out():
    """Where nobody may have to leave, a dry run needs no layout of the rows, however many there are."""
    made = engine(*(node(f"n{number}") for number in range(20)))
    cycle = made.begin(pod("new", cpu="1"))
    layout = PodLayout(made.table, by_start_time=True)
    rows = np.arange(20)
    found, _ = dry_run(
        ArrayTrial.of(cycle, [], PotentialVictims.none(layout, rows)), exhausted(cycle.listings.budgets)
    )
    assert found.rows.tolist() == rows.tolist()
    assert all(victims.pods == [] for victims in found.spelled_out().values())
