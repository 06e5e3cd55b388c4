"""Time series, fragmentation and waits."""

import random

import numpy as np

from kubeclassic.questions.replay.recording import Series, columns
from kubeclassic.questions.replay.simulatedcluster import SAMPLE, Fragmentation, Ledger, ReplayCounts
from tests.support.build import node, pod
from tests.support.replaybuild import at, played, replay, there


def rows(every, until=None):
    """The time series of a pod that comes at 5, waits for one that runs until 12.5, and runs for 10
    seconds."""
    made = replay(
        *there(node("a", cpu="2", memory="4Gi", pods="10")),
        at(2.5, pod("one", cpu="2"), runs=10),
        at(5, pod("two", cpu="1"), runs=10),
        release="1.13",
        until=until,
    )
    found = []
    made.observers.append(Series(found.append, every).at_instant)
    played(made)
    names = columns(made.inputs.resources)
    return [dict(zip(names, row, strict=True)) for row in found]


def test_one_row_an_instant():
    """Without a period there is a row for each instant, with what is the case after it."""
    found = rows(0)
    told = [
        (row["time"], row["pending"], row["running"], row["cpu.requested"], row["cpu.used"]) for row in found
    ]
    assert told == [
        (0, 0, 0, 0, 0),
        (2.5, 0, 1, 2000, 2000),
        (5, 1, 1, 3000, 2000),
        (12.5, 0, 1, 1000, 1000),
        (22.5, 0, 0, 0, 0),
    ]
    assert {row["cpu.capacity"] for row in found} == {2000}


def test_one_row_a_period():
    """With a period there is a row at each multiple of it, with what is the case then."""
    assert [(row["time"], row["pending"], row["cpu.used"]) for row in rows(5)] == [
        (0, 0, 0),
        (5, 1, 2000),
        (10, 1, 2000),
        (15, 0, 1000),
        (20, 0, 1000),
    ]


def test_up_to_the_end():
    """A replay that is stopped at a time has rows up to it."""
    assert [row["time"] for row in rows(5, until=11)] == [0, 5, 10]


def naive(ledger, sample):
    """Fragmentation, node by node and pod by pod."""
    found = []
    for index in range(len(ledger.resources)):
        total = lost = 0.0
        for name in range(len(ledger.columns)):
            free = [int(x) for x in np.maximum(ledger.allocatable[:, name] - ledger.used[:, name], 0)]
            total += free[index]
            misfits = sum(
                any(asked > left for asked, left in zip(asked_of, free, strict=True) if asked)
                for asked_of in sample
            )
            lost += free[index] * misfits / len(sample)
        found.append(lost / total if total else 0.0)
    return found


def test_as_counted_one_by_one():
    """The series that is updated with each change is the same as a new count."""
    draw = random.Random(5)
    ledger = Ledger(("cpu", "memory", "pods"))
    lost = Fragmentation(ledger, random.Random(1))
    sample = []
    for step in range(300):
        choice = draw.randrange(4)
        if choice == 0:
            ledger.put_node(
                node(f"n{draw.randrange(9)}", cpu=str(draw.randrange(1, 9)), memory="8Gi", pods="5")
            )
        elif choice == 1 and ledger.columns:
            ledger.place(f"p{step}", f"n{draw.randrange(9)}", ledger.vector({"cpu": draw.randrange(4000)}))
        elif choice == 2:
            ledger.leave(f"p{draw.randrange(step + 1)}")
        elif len(sample) < SAMPLE:
            asked = ledger.vector({"cpu": draw.randrange(5000), "memory": draw.randrange(2**33)})
            lost.see(asked)
            sample.append(asked.tolist())
        if sample and draw.random() < 0.7:  # nobody need ask after each change
            assert np.allclose(lost.by_resource(), naive(ledger, sample))


def test_the_sample_is_bounded_and_fair():
    """However many pods come, a few stand for them all, late ones as well as early ones."""
    ledger = Ledger(("cpu", "pods"))
    lost = Fragmentation(ledger, random.Random(2))
    for number in range(20 * SAMPLE):
        lost.see(ledger.vector({"cpu": number}))
    assert len(lost.sample) == SAMPLE
    assert abs(float(lost.sample[:, 0].mean()) / (10 * SAMPLE) - 1) < 0.15


def test_percentiles():
    """Percentiles of the waits are interpolated; without a wait there are none."""
    tally = ReplayCounts()
    assert tally.wait_record() == {}
    tally.waits.extend(range(101))
    assert tally.wait_record() == {"mean": 50, "p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}


def test_mean_use_is_over_time():
    """A node that is full for a quarter of the time is used to a quarter."""
    made = replay(*there(node("a", cpu="2")), at(0, pod("one", cpu="2"), runs=10), at(40, pod("late")))
    played(made)
    use = made.cluster.tally.mean_use(made.inputs.resources)
    assert use["cpu"] == 0.25
