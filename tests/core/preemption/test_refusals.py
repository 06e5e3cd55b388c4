"""Kept refusals: whatever happens between two attempts, the next one says what a new scheduler says."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.decision.verdict import judge
from kubeclassic.core.incremental.verify import StaleError, verifying
from kubeclassic.core.preemption import select
from kubeclassic.core.preemption.select import MOST_KEPT
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import build
from tests.support.build import node, pod
from tests.support.crowds import APPS, NAMES, RELEASES, SIZES
from tests.support.examples import examples

VERBS = ["come", "go", "apart", "nominate", "withdraw", "node", "drop", "first", "wait"]
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 7), st.integers(0, 5)), max_size=12)
APART = yaml.safe_load("""
podAntiAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
  - labelSelector:
      matchLabels: {app: a}
    topologyKey: kubernetes.io/hostname
""")


@pytest.fixture(autouse=True)
def every_attempt_is_verified():
    """Compare each cached refusal with a fresh one."""
    with verifying():
        yield


def machine(name, cpu="2"):
    """A node that the pods of these tests do not fit on."""
    return node(
        name,
        cpu=cpu,
        memory="4Gi",
        pods="5",
        labels={"kubernetes.io/hostname": name, "disk": "ssd" if name < "n2" else "hdd"},
    )


def made_for(release, **options):
    """A scheduler of four such nodes. *options*: fields of the engine."""
    config = {"percentageOfNodesToScore": 100, "profile": None, "featureGates": {}}
    made = build({"name": "refusals", "version": release, "config": config}, options)
    for name in NAMES:
        EventFeed(made).put(machine(name))
    return made


def take(made, step, number):
    """Let something happen to the cluster."""
    verb, which, more = step
    feed = EventFeed(made)
    name = NAMES[which % len(NAMES)]
    there = (
        [entry.pod for entry in made.table.pods[made.table.row_of[name]]] if name in made.table.row_of else []
    )
    if verb in ("come", "apart", "first"):
        affinity = APART if verb == "apart" else None
        priority = -1 if verb == "first" else 0
        labels = {"app": APPS[more % 2]}
        feed.put(
            pod(
                f"new-{number}",
                on=name,
                requests=SIZES[more],
                priority=priority,
                labels=labels,
                affinity=affinity,
            )
        )
    elif verb == "go" and there:
        feed.delete(there[more % len(there)])
    elif verb == "nominate":
        made.nominations.add(pod(f"w-{number}", requests=SIZES[more], priority=which, uid=f"w{number}"), name)
    elif verb == "withdraw" and (waiting := made.nominations.on(name)):
        made.nominations.remove(waiting[0])
    elif verb == "node":
        feed.put(machine(name, "4" if more == 0 else "1"))
    elif verb == "drop" and made.cache.node(name) is not None:
        feed.delete(machine(name))


def attempt(made, incoming):
    """All of a decision, and where the next pass begins."""
    found = made.schedule(incoming, details=False)
    plan = None if found.preemption is None else (found.preemption.record(), found.preemption.drops_own)
    made.schedule(pod("small"), details=False)
    return (
        found.host,
        found.error,
        found.is_fit_error,
        plan,
        found.nominated,
        found.plugins,
        made.flow.order.position,
    )


INCOMING = [
    pod("p", cpu="3", app="a", uid="p"),
    pod("q", requests={"memory": "5Gi"}, nodeSelector={"disk": "ssd"}, uid="q"),
    pod("r", nodeSelector={"disk": "none"}, uid="r"),
]


@examples(1)
@given(st.sampled_from([*RELEASES, "1.34"]), STEPS)
def test_an_attempt_says_what_one_that_keeps_nothing_says(release, steps):
    """Text, plan, plugins and visiting order are the same as without a cache after each step."""
    made = made_for(release)
    plain = made_for(release, memory_bytes=0)
    for number, step in enumerate([("wait", 0, 0), ("wait", 0, 0), *steps]):
        for either in (made, plain):
            take(either, step, number)
        for incoming in INCOMING:
            assert attempt(made, incoming) == attempt(plain, incoming)


@pytest.mark.parametrize("release", ["1.16", "1.27"])
class TestWhatIsJudged:
    def test_it_is_counted_again_where_something_moved(self, monkeypatch, release):
        """Not for the same state again, but after a pod came."""
        made = made_for(release)
        counted = []
        monkeypatch.setattr(select, "judge", lambda *given: counted.append(given) or judge(*given))
        with verifying(False):
            for _ in range(3):
                made.schedule(INCOMING[0], details=False)
            assert counted == []
            EventFeed(made).put(pod("new", on="n2", requests={"memory": "3Gi"}))
            made.schedule(INCOMING[0], details=False)
            assert len(counted) == 1

    def test_a_pod_that_fits_now_is_placed(self, release):
        """Once a pod has left a node, the pod that waited for it fits there."""
        made = made_for(release)
        large = pod("p", cpu="2")
        for name in NAMES:
            EventFeed(made).put(pod(f"on-{name}", on=name, cpu="1"))
        assert [made.schedule(large, details=False).host for _ in range(2)] == [None, None]
        EventFeed(made).delete(pod("on-n3", on="n3", cpu="1"))
        assert made.schedule(large, details=False).host == "n3"

    def test_what_happens_elsewhere_counts(self, release):
        """Once the pod is gone that keeps others out of its zone, they fit on nodes to which nothing
        happened."""
        made = made_for(release)
        for name in NAMES:
            EventFeed(made).put(node(name, cpu="1" if name == "n0" else "4", labels={"zone": "z"}))
        term = yaml.safe_load("{labelSelector: {matchLabels: {app: a}}, topologyKey: zone}")
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        alone = pod("alone", on="n0", affinity=apart)
        EventFeed(made).put(alone)
        incoming = pod("p", cpu="2", app="a")
        assert [made.schedule(incoming, details=False).host for _ in range(2)] == [None, None]
        EventFeed(made).delete(alone)
        assert made.schedule(incoming, details=False).host in NAMES[1:]

    def test_what_is_stale_is_told(self, release):
        """Counts that are not what would be worked out now end the attempt, where it is verified."""
        made = made_for(release)
        made.schedule(INCOMING[0], details=False)
        found = made.flow.refusals
        kept = found["default-scheduler"] if isinstance(found, dict) else found
        (refusal,) = kept.kept.values()
        refusal.tally["Insufficient cpu"] = 3
        with pytest.raises(StaleError, match="the refusal of pod default/p is stale"):
            made.schedule(INCOMING[0], details=False)

    def test_the_latest_templates_are_kept(self, release):
        """Only so many refusals are kept."""
        made = made_for(release)
        for number in range(MOST_KEPT + 3):
            made.schedule(pod("p", cpu=str(number + 3)), details=False)
        found = made.flow.refusals
        kept = found["default-scheduler"] if isinstance(found, dict) else found
        assert len(kept.kept) == MOST_KEPT
