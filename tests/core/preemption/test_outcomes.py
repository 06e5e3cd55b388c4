"""Kept outcomes of dry runs: whatever happens between two attempts, the next one finds what a new scheduler
finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.incremental.verify import StaleError, verifying
from kubeclassic.core.preemption.dryrun import DryRuns, coming_pods, exhausted
from kubeclassic.core.run import EventFeed
from tests.support.build import engine, node, obj, pod
from tests.support.crowds import APPS, NAMES, RELEASES, SIZES, STARTS, crowds
from tests.support.examples import examples
from tests.support.frameworkbuild import scheduler

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["come", "go", "nominate", "withdraw", "budget", "node", "wait"]),
        st.integers(0, 7),
        st.integers(0, 5),
    ),
    max_size=5,
)


@pytest.fixture(autouse=True)
def every_attempt_is_verified():
    """Compare each cached outcome with a fresh one."""
    with verifying():
        yield


def plan_of(made, incoming):
    """The candidates of a preemption for *incoming*, and the text of the error."""
    decision = made.schedule(incoming)
    return (None if decision.preemption is None else decision.preemption.record()), str(decision.error)


def take(made, step, number):
    """Let something happen to the cluster."""
    verb, which, more = step
    feed = EventFeed(made)
    name = NAMES[which % len(NAMES)]
    there = (
        [entry.pod for entry in made.table.pods[made.table.row_of[name]]] if name in made.table.row_of else []
    )
    waiting = made.nominations.on(name)
    if verb == "come":
        feed.put(pod(f"new-{number}", on=name, requests=SIZES[more], priority=which - 4, app=APPS[more % 2]))
    elif verb == "go" and there:
        feed.delete(there[more % len(there)])
    elif verb == "nominate":
        status = {"nominatedNodeName": name}
        made.nominations.add(
            pod(f"w-{number}", requests=SIZES[more], priority=which, uid=f"w{number}", status=status), name
        )
    elif verb == "withdraw" and waiting:
        made.nominations.remove(waiting[0])
    elif verb == "budget":
        spec = {"selector": {"matchLabels": {"app": APPS[more % 2]}}}
        meta = {"name": "late", "namespace": "default"}
        feed.put(
            obj(
                {
                    "kind": "PodDisruptionBudget",
                    "metadata": meta,
                    "spec": spec,
                    "status": {"disruptionsAllowed": which % 3},
                }
            )
        )
    elif verb == "node":
        feed.put(
            node(
                name, cpu="4", memory="4Gi", pods="5", labels={"kubernetes.io/hostname": name, "disk": "ssd"}
            )
        )


@examples(0.6)
@given(crowds(), st.sampled_from(RELEASES), STEPS, st.booleans())
def test_an_attempt_finds_what_one_that_keeps_nothing_finds(crowd, release, steps, tight):
    """Candidates, victims, choice and text are the same as without a cache after each step, also where the
    cache has room for the outcomes of only one pod."""
    made = crowd.engine(release)
    plain = crowd.engine(release, memory_bytes=0)
    others = pod("q", cpu="2", priority=3, uid="uid-q")
    if tight:
        made.flow.runs.limit = 0
    for number, step in enumerate([("wait", 0, 0), *steps]):
        for either in (made, plain):
            take(either, step, number)
        for incoming in (crowd.incoming, others):
            assert plan_of(made, incoming) == plan_of(plain, incoming)


def full(release):
    """Nodes that are full of two pods of low priority each."""
    names = [f"n{i}" for i in range(3)]
    machines = [node(name, cpu="2", labels={"kubernetes.io/hostname": name}) for name in names]
    pods = [
        pod(f"{name}-{j}", on=name, cpu="1", status={"startTime": STARTS[j]})
        for name in names
        for j in range(2)
    ]
    return (
        scheduler(*machines, *pods) if release == RELEASES[-1] else engine(*machines, *pods, release=release)
    )


@pytest.mark.parametrize("release", ["1.16", "1.27"])
class TestWhatIsTried:
    def tried(self, monkeypatch):
        """The rows of each dry run from now on."""
        found = []
        run = DryRuns._run

        def noted(self, kept, cycle, coming, rows, protection):
            found.append(rows.tolist())
            return run(self, kept, cycle, coming, rows, protection)

        monkeypatch.setattr(DryRuns, "_run", noted)
        return found

    def test_only_rows_that_changed_are_tried_again(self, monkeypatch, release):
        """All nodes once, none for the same pod again, then that where a pod left, and that to which a pod is
        nominated."""
        made = full(release)
        tried = self.tried(monkeypatch)
        incoming = pod("p", cpu="1", priority=5, uid="p")
        row_of = made.table.row_of
        with verifying(False):
            made.schedule(incoming)
            made.schedule(incoming)
            assert tried == [sorted(row_of.values())]
            EventFeed(made).delete(made.table.pods[row_of["n1"]][0].pod)
            EventFeed(made).put(pod("other", on="n1", cpu="1"))
            made.schedule(incoming)
            made.nominations.add(pod("w", cpu="1", priority=9, nominated="n2"), "n2")
            made.schedule(incoming)
        assert tried[1:] == [[row_of["n1"]], [row_of["n2"]]]

    def test_what_is_stale_is_told(self, release):
        """An outcome that is not what would be worked out now ends the attempt, where it is verified."""
        made = full(release)
        incoming = pod("p", cpu="1", priority=5)
        made.schedule(incoming)
        (kept,) = made.flow.runs._outcomes_by_pod.values()
        kept.criteria[3, made.table.row_of["n0"]] = 7
        with pytest.raises(StaleError, match="the dry run for pod default/p is stale"):
            made.schedule(incoming)


def test_outcomes_of_the_least_recent_pods_are_dropped():
    """With room for one pod's outcomes, those of the pod before are dropped when a third comes."""
    made = full("1.16")
    runs = made.flow.runs
    runs.limit = 1
    for number in range(3):
        made.schedule(pod(f"p{number}", cpu="1", priority=5, app=str(number)))
    assert len(runs._outcomes_by_pod) == 1
    assert runs._bytes == sum(kept.nbytes for kept in runs._outcomes_by_pod.values())


def test_victims_are_closed_up_to_the_most_of_a_row():
    """However far down the victims stand, no more places are kept than a row has victims."""
    made = full("1.16")
    runs = made.flow.runs
    cycle = made.begin(pod("p", cpu="1", priority=5))
    rows = np.array(sorted(made.table.row_of.values()), np.intp)
    found = runs.outcomes(cycle, coming_pods(cycle, made.nominations), rows, exhausted([]))
    assert found is not None
    outcomes, verdict = found
    assert outcomes.victims.shape[0] == 1
    assert outcomes.occupied.all()
    assert verdict is not None
