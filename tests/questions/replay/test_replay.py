"""The events over virtual time: pods come, wait, run, finish, are evicted; nodes fail; volumes are made."""

import pytest
import yaml
from attrs import evolve

from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.replay.inputs import ADD, DELETE, DRAIN, FAIL, RECOVER, UPDATE, Event
from kubeclassic.questions.replay.replay import Replay
from kubeclassic.questions.replay.simulatedcluster import Delays
from kubeclassic.simulation.conform import ALL_RELEASES
from tests.support.build import manifest, node, obj, owned_by
from tests.support.drainbuild import with_devices
from tests.support.examples import ENDS
from tests.support.replaybuild import BUSY, asking, at, engine, of_event, of_file, played, replay, there, told
from tests.support.volumebuild import on

ALL = list(ALL_RELEASES)
each_release = pytest.mark.parametrize("release", ALL)


def small(name="a", cpu="2", **more):
    """A node for two pods of one cpu."""
    return node(name, cpu=cpu, **more)


SPARE = small("spare", cpu="0")
"""A node without room: where all nodes fail, no pod is evicted."""
ONE = asking("one")
ENDED = {"status": {"phase": "Succeeded"}}
BIG = asking("one", cpu="2")
LOW = asking("low", cpu="2")
HIGH = asking("high", cpu="2", priority=10)
FOR_A_WHILE = {
    "key": "node.kubernetes.io/unreachable",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 300,
}
MAINTENANCE = [{"key": "maintenance", "effect": "NoExecute"}]
FOR_20_S = [{"key": "maintenance", "operator": "Exists", "tolerationSeconds": 20}]
GONE = {"deletionTimestamp": "2020-01-01T00:00:00Z"}
LOST = [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
FULL = there(small(cpu="1"))
WAITING = [*there(small(cpu="0")), at(0, asking("z")), at(5, asking("a")), at(10, small("b", cpu="1"))]
HAPPENS = {
    "a bound pod runs from the beginning": (
        [*there(small()), at(0, asking("old", on="a"), runs=7)],
        {},
        "Finished",
        [(7, "old")],
    ),
    "a deleted pod frees its node": (
        [*FULL, at(0, ONE), at(1, asking("two")), at(30, ONE, DELETE)],
        {"release": "1.13"},
        "Scheduled",
        [(0, "one"), (30, "two")],
    ),
    "one that goes before it is bound leaves nothing behind": (
        [*there(small()), at(0, BIG), at(1, BIG, DELETE), at(2, asking("two", cpu="2"))],
        {"binding": 5},
        "Bound",
        [(7, "two")],
    ),
    "nothing comes after the end": (
        [*there(small()), at(5, ONE), at(50, asking("two"))],
        {"until": 20},
        "Scheduled",
        [(5, "one")],
    ),
    "1.12 knows no time of failures": (WAITING, {"release": "1.12"}, "Scheduled", [(10, "a")]),
    "1.13 tries first who failed first": (WAITING, {"release": "1.13"}, "Scheduled", [(10, "z")]),
    "1.14 does so, too": (WAITING, {"release": "1.14"}, "Scheduled", [(10, "z")]),
    "while victims leave, another pod of the priority does not get the place": (
        [*there(small()), at(0, LOW), at(5, HIGH), at(6, asking("late", cpu="2", priority=10))],
        {"termination": 20},
        "Scheduled",
        [(0, "low"), (25, "high")],
    ),
    "an owner replaces a victim": (
        [
            *there(small()),
            at(0, asking("low", cpu="2", metadata=owned_by())),
            at(5, HIGH),
            at(50, small("b")),
        ],
        {},
        "Scheduled",
        [(0, "low"), (6, "high"), (50, "low-again1")],
    ),
    "another scheduler replaces its pods": (
        [
            *there(small(), asking("other", on="a", schedulerName="mine", metadata=owned_by())),
            at(0, asking("ours", on="a", metadata=owned_by())),
            at(5, small(), DRAIN),
            at(9, small("b")),
        ],
        {},
        "Arrived",
        [(5, "ours-again1")],
    ),
    "without preemption none is evicted": (
        [*there(small()), at(0, LOW), at(5, HIGH)],
        {"config": {"preemption": False}},
        "Preempted",
        [],
    ),
    "a failed node's pods leave, but for one that tolerates it for ever": (
        [
            *there(
                small(),
                SPARE,
                asking("goes", on="a"),
                asking("stays", on="a", tolerations=[{"operator": "Exists"}]),
            ),
            at(10, small(), FAIL),
        ],
        {"failure": 40},
        "Evicted",
        [(50, "goes")],
    ),
    "the option counts in place of the toleration that every pod gets": (
        [*there(small(), SPARE, asking("one", on="a", tolerations=[FOR_A_WHILE])), at(10, small(), FAIL)],
        {"failure": 40},
        "Evicted",
        [(50, "one")],
    ),
    "a taint evicts pods at once, or after the time for which they tolerate it": (
        [
            *there(small(), asking("goes", on="a"), asking("later", on="a", tolerations=FOR_20_S)),
            at(10, small(taints=MAINTENANCE), UPDATE),
        ],
        {},
        "Evicted",
        [(10, "goes"), (30, "later")],
    ),
    "the time counts from the binding, and ends with the taint": (
        [
            *there(small(taints=MAINTENANCE), small("b", cpu="1", taints=MAINTENANCE)),
            at(5, asking("one", cpu="2", tolerations=FOR_20_S)),
            at(6, asking("two", tolerations=FOR_20_S)),
            at(20, small("b", cpu="1"), UPDATE),
        ],
        {},
        "Evicted",
        [(25, "one")],
    ),
    "pods that come back again and again do not keep it going for ever": (
        [*there(small(taints=MAINTENANCE), asking("one", tolerations=FOR_20_S, metadata=owned_by()))],
        {},
        "Evicted",
        [(20, "one"), (40, "one-again1"), (60, "one-again2")],
    ),
    "a pod that comes to tolerate it for ever stays": (
        [
            *there(small(taints=MAINTENANCE), asking("one", on="a", tolerations=FOR_20_S)),
            at(5, asking("one", tolerations=[{"operator": "Exists"}]), UPDATE),
            at(50, ONE, DELETE),
        ],
        {},
        "Evicted",
        [],
    ),
    "of a zone's failed nodes one after another is tainted": (
        [
            *there(small(), small("b"), SPARE, asking("one", on="a"), asking("two", on="b")),
            *(at(10, small(name), FAIL) for name in "ab"),
        ],
        {"failure": 40},
        "Evicted",
        [(50, "one"), (60, "two")],
    ),
    "none is while all nodes have failed": (
        [
            *there(small(), small("b"), asking("one", on="a"), asking("two", on="b")),
            *(at(10, small(name), FAIL) for name in "ab"),
            at(200, small("b"), RECOVER),
        ],
        {"failure": 40},
        "Evicted",
        [(250, "one")],
    ),
    "a deleted node's pods go after it": (
        [*there(small(), asking("one", on="a")), at(1, small(), DELETE)],
        {"failure": 5},
        "Evicted",
        [(6, "one")],
    ),
    "they are collected after a minute at the latest, and end at once": (
        [*there(small(), asking("one", on="a")), at(1, small(), DELETE)],
        {"termination": 30},
        "Deleted",
        [(61, "one")],
    ),
    "a node that has failed fails no more": (
        [*there(small(), SPARE, asking("one", on="a")), at(10, small(), FAIL), at(30, small(), FAIL)],
        {"failure": 40},
        "Evicted",
        [(50, "one")],
    ),
    "a failed node ends its pods when it is back": (
        [*there(small(), SPARE, asking("one", on="a")), at(10, small(), FAIL), at(100, small(), RECOVER)],
        {"failure": 40, "termination": 5},
        "Deleted",
        [(105, "one")],
    ),
    "a cordoned node that fails is cordoned when it is back, until it recovers again": (
        [
            *there(small(unschedulable=True), SPARE, ONE),
            at(10, small(), FAIL),
            at(100, small(), RECOVER),
            at(200, small(), RECOVER),
        ],
        {},
        "Scheduled",
        [(200, "one")],
    ),
    "or when it is deleted": (
        [*there(small(), SPARE, asking("one", on="a")), at(10, small(), FAIL), at(100, small(), DELETE)],
        {"failure": 40},
        "Deleted",
        [(140, "one")],
    ),
    "a pod that finishes there is known to have once the node is back": (
        [
            *there(small(), SPARE),
            at(0, asking("one", on="a"), runs=50),
            at(10, small(), FAIL),
            at(100, small(), RECOVER),
        ],
        {},
        "Finished",
        [(100, "one")],
    ),
    "a StatefulSet waits for that, another owner does not": (
        [
            *there(small(), SPARE, asking("one", on="a", metadata=owned_by("StatefulSet"))),
            *there(asking("two", on="a", metadata=owned_by())),
            at(10, small(), FAIL),
            at(100, small(), RECOVER),
        ],
        {"failure": 40, "termination": 5},
        "Arrived",
        [(50, "two-again1"), (105, "one-again1")],
    ),
    "pods that are being deleted end, and a StatefulSet makes another one then": (
        [
            *there(asking("one", on="a", metadata={**GONE, **owned_by("StatefulSet")})),
            *there(small(), asking("two", on="a", metadata={**GONE, **owned_by()})),
            *there(asking("three", metadata=GONE)),
        ],
        {"termination": 30},
        "Arrived",
        [(0, "three"), (30, "one-again1")],
    ),
    "but not on a node that does not answer": (
        [
            *there(small(taints=LOST), asking("one", on="a", metadata=GONE)),
            at(50, small(taints=LOST), RECOVER),
        ],
        {"termination": 30},
        "Deleted",
        [(80, "one")],
    ),
    "a recording may end a pod of a failed node": (
        [*there(small(), SPARE, asking("one", on="a")), at(10, small(), FAIL), at(60, ONE, DELETE)],
        {"failure": 40},
        "Deleted",
        [(60, "one")],
    ),
    "one that a user deletes there stays until the node is back": (
        [*there(small(), SPARE, ONE), at(10, small(), FAIL), at(20, ONE, DELETE), at(60, small(), RECOVER)],
        {"termination": 5},
        "Deleted",
        [(65, "one")],
    ),
    "a recorded pod comes, though that of its name was still being deleted": (
        [
            *there(small(), SPARE, asking("one", on="a", metadata=owned_by("StatefulSet"))),
            at(10, small(), FAIL),
            at(60, asking("one", metadata={"uid": "another", **owned_by("StatefulSet")})),
            at(70, small(), RECOVER),
        ],
        {"failure": 40},
        "Arrived",
        [(60, "one")],
    ),
    "an update does not bring back a pod that is gone": (
        [*there(small()), at(1, ONE, runs=5), at(10, asking("one", labels={"a": "b"}), UPDATE)],
        {},
        "Arrived",
        [(1, "one")],
    ),
    "a pod whose update lets it fit is scheduled then": (
        [
            *there(small()),
            at(1, asking("one", nodeSelector={"disk": "ssd"})),
            at(10, asking("one", labels={"x": "y"}), UPDATE),
        ],
        {},
        "Scheduled",
        [(10, "one")],
    ),
    "a pod that ran from the beginning ends when an update says so": (
        [*FULL, at(0, asking("old", on="a")), at(1, ONE), at(5, asking("old", on="a", **ENDED), UPDATE)],
        {},
        "Finished",
        [(5, "old")],
    ),
    "a pod that the replay has placed ends where it is": (
        [
            *FULL,
            at(1, ONE),
            at(4, asking("one", on="b"), UPDATE),
            at(9, asking("one", on="b", **ENDED), UPDATE),
        ],
        {},
        "Finished",
        [(9, "one")],
    ),
    "a pod that ends before it has a node goes": (
        [*FULL, at(1, BIG), at(9, asking("one", on="b", **ENDED), UPDATE)],
        {},
        "Deleted",
        [(9, "one")],
    ),
    "one that ends before it is bound goes, too": (
        [*FULL, at(1, ONE), at(2, asking("one", **ENDED), UPDATE), at(3, asking("two"))],
        {"binding": 5},
        "Bound",
        [(8, "two")],
    ),
}
"""Case -> events, options, a kind of record, and the times and pods of these records."""


@pytest.mark.parametrize("what", HAPPENS)
def test_what_happens(what):
    """Events of one kind, in a few words."""
    events, options, kind, wanted = HAPPENS[what]
    made = replay(*events, **options)
    assert told(played(made), kind) == [(time, f"default/{name}") for time, name in wanted]
    assert options.get("until") in (None, made.now)


# --- Running ------------------------------------------------------------------------------------------------


@each_release
def test_a_pod_that_finishes_makes_room_for_one_that_waits(release):
    """Where a node is full, the next pod waits for as long as the first one runs and until its back-off
    is over."""
    events = [*FULL, at(5, ONE, runs=60), at(10, asking("two"))]
    records = played(replay(*events, release=release))
    assert told(records, "Scheduled")[0] == (5, "default/one")
    assert told(records, "Finished") == [(65, "default/one")]
    ((time, name),) = told(records, "Scheduled")[1:]
    assert (name, 65 <= time <= 66) == ("default/two", True)


def test_delays_add_up():
    """A pod is bound after the binding delay, runs after the startup delay, and its run time counts from
    then."""
    records = played(replay(*there(small()), at(1, ONE, runs=10), binding=2, startup=3))
    assert [(record["time"], record["event"]) for record in records] == [
        (1, "Arrived"),
        (1, "Scheduled"),
        (3, "Bound"),
        (6, "Started"),
        (16, "Finished"),
    ]


@each_release
def test_a_pod_keeps_its_place_until_it_is_bound(release):
    """However long its binding takes no other pod gets its place, and a bound pod is confirmed at once:
    its place cannot expire."""
    made = replay(*FULL, at(0, ONE), at(50, asking("two")), release=release, binding=100, until=300)
    records = played(made)
    assert told(records, "Scheduled") == [(0, "default/one")]
    assert told(records, "Bound") == [(100, "default/one")]
    assert made.cluster.engine.cache.counts == (1, 1, 0)  # nodes, pods, assumed pods


def test_cycles_are_one_after_the_other():
    """With a cycle time of a second, pods that come together are scheduled a second apart, and their
    waits say so."""
    made = replay(*there(small(cpu="9")), *(at(0, asking(f"pod-{i}")) for i in range(4)), cycle=1)
    assert [time for time, _ in told(played(made), "Scheduled")] == [0, 1, 2, 3]
    assert made.cluster.tally.wait_record() == {
        "mean": 1.5,
        "p50": 1.5,
        "p90": 2.7,
        "p95": 2.85,
        "p99": 2.97,
        "max": 3,
    }


@each_release
def test_waits_end_while_the_scheduler_is_busy(release, tmp_path):
    """A pod whose wait ends in the middle of a cycle is tried after it."""
    made = Replay(of_file(tmp_path, BUSY), engine(release), Delays(cycle=0.7), until=400)
    assert told(played(made), "Scheduled")
    assert made.now == 400


def test_the_end_comes_though_pods_wait():
    """Once nothing can change any more, a replay ends, be there pods that fit nowhere."""
    made = replay(*there(small()), at(0, asking("big", cpu="3")))
    played(made)
    assert (made.cluster.ledger.waiting_pods, made.now < 100) == (1, True)


# --- Failing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release, attempts", [("1.12", 2), ("1.13", 4)])
def test_a_pod_is_tried_again_a_minute_after_it_failed(release, attempts):
    """In 1.13 a parked pod is moved by the look at 90 s, then 180 s; in 1.12 only events move it."""
    made = replay(
        *there(small()), at(0, asking("big", cpu="3")), at(200, small("b", cpu="1")), release=release
    )
    played(made)
    assert made.cluster.tally.failed_attempts == attempts


def test_the_same_failure_is_told_once():
    """Attempts that fail with the same message are counted, and written once."""
    made = replay(*there(small()), at(0, asking("big", cpu="3")), at(200, small("b", cpu="1")))
    records = played(made)
    assert [record["message"] for record in of_event(records, "FailedScheduling")] == [
        "0/1 nodes are available: 1 Insufficient cpu.",
        "0/2 nodes are available: 2 Insufficient cpu.",
    ]
    assert made.cluster.tally.failed_attempts > 2


@pytest.mark.parametrize("release", ENDS)
def test_what_cannot_have_changed_is_not_worked_out_again(tmp_path, release, monkeypatch):
    """Repeating a failed attempt's answer on an unchanged cluster gives what working it out again gives."""
    inputs = of_file(tmp_path, BUSY.replace("cpu: 900m", "cpu: 1900m"))
    quick = Replay(inputs, engine(release), seed=1)
    wanted = played(quick)
    again = Replay(inputs, engine(release), seed=1)
    monkeypatch.setattr(type(again.engine.flow), "can_repeat", lambda self, decision: False)
    assert played(again) == wanted
    assert again.engine.flow.order.one_pass().tolist() == quick.engine.flow.order.one_pass().tolist()


def test_who_left_without_a_node():
    """Pods that are deleted while they wait are counted."""
    made = replay(*FULL, at(0, BIG), at(5, BIG, DELETE))
    played(made)
    assert (made.cluster.tally.never_scheduled, made.cluster.tally.deleted) == (1, 1)


@each_release
@pytest.mark.parametrize("termination", [0.0, 20.0])
def test_victims_leave_and_the_pod_gets_their_place(release, termination):
    """A pod of high priority evicts one of low priority and is on its node soon after that is gone."""
    records = played(
        replay(*there(small()), at(0, LOW), at(5, HIGH), release=release, termination=termination)
    )
    assert [(record["pod"], record["by"]) for record in of_event(records, "Preempted")] == [
        ("default/low", "default/high")
    ]
    assert told(records, "Deleted") == [(5 + termination, "default/low")]
    time, name = told(records, "Scheduled")[-1]
    assert name == "default/high"
    assert 5 + termination <= time <= 5 + termination + 11


# --- Nodes --------------------------------------------------------------------------------------------------


def test_a_node_that_recovers_keeps_its_pods():
    """A node that is back before the delay is over keeps its pods and takes new ones."""
    events = [
        *there(small(), SPARE, asking("one", on="a")),
        at(10, small(), FAIL),
        at(12, asking("two")),
        at(20, small(), RECOVER),
    ]
    records = played(replay(*events, failure=40))
    assert told(records, "Evicted") == []
    assert 20 <= told(records, "Scheduled")[0][0] <= 21


def test_a_drained_node_is_empty_and_stays_so():
    """All pods but a DaemonSet's leave a drained node, and nobody comes."""
    daemon = asking("d", on="a", metadata=owned_by("DaemonSet"))
    made = replay(*there(small(), asking("one", on="a"), daemon), at(1, small(), DRAIN), at(2, asking("two")))
    records = played(made)
    assert told(records, "Evicted") == [(1, "default/one")]
    assert [life.key for life in made.waiting] == ["default/two"]


def test_a_node_with_annotated_times():
    """A node that comes at its annotated time is told as one of a recording is; one from the start is not."""
    records = played(replay(*there(small()), Event(3, ADD, small("b")), at(4, small("c"))))
    assert told(records, "NodeAdded") == [(3, "b"), (4, "c")]


def guarded(least, **status):
    """A node, its two pods of a ReplicaSet, a free node, and a budget that keeps *least* of the pods."""
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": "x"}}}
    budget = obj(manifest("PodDisruptionBudget", "b", namespace="default", spec=spec, **status))
    owned = {**owned_by(), "labels": {"app": "x"}}
    return there(
        small(), small("b"), budget, *(asking(name, on="a", metadata=owned) for name in ("one", "two"))
    )


COUNTED = {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1}


@pytest.mark.parametrize(
    "events, evicted",
    [
        (guarded(1), [(10, "one"), (20, "two")]),
        (guarded(1, status=COUNTED), [(10, "one"), (20, "two")]),
        (guarded(2), []),
        (
            [*guarded(2), at(32, asking("three", metadata={"labels": {"app": "x"}}))],
            [(40, "one"), (50, "two")],
        ),
        ([*guarded(2), at(12, asking("one"), DELETE)], []),
    ],
)
def test_a_drain_waits_for_budgets(events, evicted):
    """A drain asks every five seconds for pods that budgets keep, as long as anything happens."""
    made = replay(*events, at(10, small(), DRAIN), release="1.36", startup=7)
    made.inputs = evolve(made.inputs, events=tuple(sorted(made.inputs.events, key=lambda event: event.time)))
    assert told(played(made), "Evicted") == [(time, f"default/{name}") for time, name in evicted]


def test_an_unknown_node():
    """A failure of a node that is not there is bad input."""
    with pytest.raises(ManifestError, match="test: Fail: expected a node that exists at that time, got b"):
        played(replay(*there(small()), at(1, small("b"), FAIL)))


def test_what_a_failed_node_takes_with_it():
    """A static pod and one whose first toleration has no end stay; a claim from a template is made anew,
    and the device of the old one given back once the node ends its pod."""
    static = asking(
        "static", on="a", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}, **owned_by("Node")}
    )
    always = asking(
        "always", on="a", tolerations=[{"operator": "Exists"}, {"operator": "Exists", "tolerationSeconds": 5}]
    )
    events = [*there(small(), small("b"), static, always, *with_devices()), at(10, small(), FAIL)]
    made = replay(*events, at(90, small(), RECOVER), release="1.34", failure=40)
    records = played(made)
    assert told(records, "Evicted") == [(50, "default/infer")]
    assert told(records, "Bound") == [(50, "default/infer-again1")]
    assert told(records, "Deleted") == [(90, "default/infer")]
    assert [claim.name for claim in made.cluster.listings.resource_claims] == ["infer-again1-gpu"]


def test_a_pod_in_the_replay_keeps_its_node():
    """A recorded update changes labels and the like; where the pod went in the recording is not taken
    over."""
    changed = asking("one", on="elsewhere", labels={"a": "b"}, status={"phase": "Running"})
    made = replay(*there(small()), at(1, ONE), at(2, changed, UPDATE))
    played(made)
    now = made.cluster.pod("default/one")
    assert (now.spec.node_name, now.labels) == ("a", {"a": "b"})


@pytest.mark.parametrize("cpu, waiting, used", [("1", 0, 1000), ("3", 3000, 0)])
def test_requests_follow_an_update(cpu, waiting, used):
    """The use of nodes and the requests of waiting pods are those of the pod as it was last updated."""
    made = replay(*there(small()), at(1, asking("one", cpu="9")), at(4, asking("one", cpu=cpu), UPDATE))
    played(made)
    ledger = made.cluster.ledger
    assert (ledger.waiting[0], ledger.totals[0, 0]) == (waiting, used)


@pytest.mark.parametrize("cpu", ["1", "2"])
def test_requests_of_a_pod_on_a_node_follow_an_update(cpu):
    """A pod that is resized on its node takes the new amounts, until it leaves."""
    events = [at(1, ONE), at(4, asking("one", cpu=cpu), UPDATE), at(9, ONE, DELETE)]
    made = replay(*there(small()), *events, until=8)
    played(made)
    assert made.cluster.ledger.totals[0, 0] == 1000 * int(cpu)
    made = replay(*there(small()), *events)
    played(made)
    assert not made.cluster.ledger.totals[0].any()


class TestVolumes:
    LATE, NOW, LOCAL = (
        obj(manifest("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode))
        for name, provisioner, mode in (
            ("late", "kubernetes.io/aws-ebs", "WaitForFirstConsumer"),
            ("now", "example.com/disk", "Immediate"),
            ("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        )
    )
    ZONE = "failure-domain.beta.kubernetes.io/zone"

    @staticmethod
    def claim(name, kind):
        """A claim for a gibibyte."""
        spec = {
            "storageClassName": kind,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        return obj(manifest("PersistentVolumeClaim", name, namespace="default", spec=spec))

    @staticmethod
    def using(name, claim):
        """A pod with a claim."""
        return asking(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])

    @each_release
    def test_a_delayed_claim_gets_a_volume_where_its_pod_goes(self, release):
        """A volume is made for a delayed claim once its pod has a node, in the node's zone, and the pod is
        bound after that."""
        events = there(small(labels={self.ZONE: "z1"}), self.LATE, self.claim("data", "late"))
        made = replay(*events, at(5, self.using("db", "data")), release=release, provisioning=7)
        records = played(made)
        assert told(records, "VolumeProvisioned") == [(12, "a")]
        assert told(records, "Bound") == [(12, "default/db")]
        (volume,) = made.engine.listings.volumes
        assert (volume.labels, volume.phase) == ({self.ZONE: "z1"}, "Bound")

    @each_release
    def test_an_immediate_claim_gets_its_volume_by_itself(self, release):
        """A claim that does not wait for a pod has its volume made at once; a pod waits for that."""
        events = [*there(small(), self.NOW, self.claim("data", "now")), at(1, self.using("db", "data"))]
        records = played(replay(*events, release=release, provisioning=10))
        assert told(records, "VolumeProvisioned") == [(10, "pvc-default-data")]
        assert 10 <= told(records, "Bound")[0][0] <= 12

    def test_a_claim_is_bound_to_the_nearest_volume(self):
        """Of the volumes that satisfy a claim one with the fewest access modes counts, of these the
        smallest."""
        volumes = [
            obj(
                manifest(
                    "PersistentVolume",
                    name,
                    spec={
                        "storageClassName": "now",
                        "capacity": {"storage": size},
                        "accessModes": ["ReadWriteOnce", *more],
                    },
                )
            )
            for name, size, more in [
                ("shared", "1Gi", ["ReadWriteMany"]),
                ("large", "3Gi", []),
                ("small", "2Gi", []),
            ]
        ]
        records = played(replay(*there(small(), self.NOW, *volumes, self.claim("data", "now"))))
        assert [record["volume"] for record in of_event(records, "VolumeBound")] == ["small"]

    @pytest.mark.parametrize(
        "claim, volumes, chosen",
        [
            ("{volumeName: a}", "{a: {}}", "a"),
            ("{volumeName: a}", "{a: {capacity: {storage: 500Mi}}}", None),
            ("{volumeName: a}", "{a: {storageClassName: other}}", None),
            ("{volumeName: a}", "{a: {claimRef: {namespace: default, name: data}}}", "a"),
            ("{volumeName: a}", "{a: {claimRef: {namespace: default, name: other}}, b: {}}", None),
            ("{}", "{a: {}, b: {claimRef: {namespace: default, name: data}}}", "b"),
            ("{}", "{a: {}, b: {claimRef: {namespace: default, name: data}, accessModes: BOTH}}", "a"),
            ("{}", "{a: {claimRef: {namespace: default, name: data}, volumeMode: Block}}", None),
            ("{}", "{a: {volumeAttributesClassName: gold}, b: {}}", "b"),
            ("{volumeAttributesClassName: gold}", "{a: {volumeAttributesClassName: gold}, b: {}}", "a"),
        ],
    )
    def test_which_volume_suits_a_claim(self, claim, volumes, chosen):
        """The volume that a claim names, or that is bound to it, must suit it, too; one that is bound to it
        goes before others of its modes. A volume that no claim has is free whatever its phase was."""
        basis = yaml.safe_load(
            "{storageClassName: none, capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce]}"
        )
        given = yaml.safe_load(volumes.replace("BOTH", "[ReadWriteOnce, ReadWriteMany]"))
        items = [
            obj(manifest("PersistentVolume", name, spec={**basis, **more}, status={"phase": "Released"}))
            for name, more in given.items()
        ]
        own = obj(
            manifest(
                "PersistentVolumeClaim",
                "data",
                namespace="default",
                spec={**basis, "resources": {"requests": {"storage": "1Gi"}}, **yaml.safe_load(claim)},
            )
        )
        records = played(replay(*there(small(), *items, own), release="1.36"))
        bound = [record["volume"] for record in of_event(records, "VolumeBound")]
        assert bound == ([] if chosen is None else [chosen])

    def test_the_volume_of_a_bound_claim_is_its_own(self):
        """A volume that does not name the claim that is bound to it is no other claim's."""
        spec = yaml.safe_load("{capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce]}")
        request = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        claims = [
            manifest(
                "PersistentVolumeClaim",
                name,
                namespace="default",
                metadata=bound if volume else {},
                spec={**request, **volume},
            )
            for name, volume in (("a", {"volumeName": "v"}), ("b", {}))
        ]
        given = [obj(item) for item in (*claims, manifest("PersistentVolume", "v", spec=spec))]
        assert not of_event(played(replay(*there(small(), *given))), "VolumeBound")

    @each_release
    def test_two_pods_share_out_local_volumes(self, release):
        """Delayed claims are bound to the volumes that are there, each on the node of its pod."""
        volumes = [
            obj(
                manifest(
                    "PersistentVolume",
                    f"disk-{name}",
                    status={"phase": "Available"},
                    spec={
                        "storageClassName": "local",
                        "capacity": {"storage": "2Gi"},
                        "accessModes": ["ReadWriteOnce"],
                        **on(host=name),
                    },
                )
            )
            for name in "ab"
        ]
        nodes = [small(name, labels={"host": name}) for name in "ab"]
        claims = [self.claim(f"data-{i}", "local") for i in range(3)]
        pods = [at(i + 1, self.using(f"db-{i}", f"data-{i}")) for i in range(3)]
        made = replay(*there(*nodes, *volumes, self.LOCAL, *claims), *pods, release=release)
        records = played(made)
        assert [name for _, name in told(records, "Bound")] == ["default/db-0", "default/db-1"]
        assert sorted(record["volume"] for record in of_event(records, "VolumeBound")) == ["disk-a", "disk-b"]
        assert [life.key for life in made.waiting] == ["default/db-2"]

    def test_a_deleted_claim_gives_its_volume_back(self):
        """A volume that was made for a claim goes with it; one that was there before is released."""
        made_volume = replay(
            *there(small(), self.NOW, self.claim("data", "now")), at(5, self.claim("data", "now"), DELETE)
        )
        played(made_volume)
        assert len(made_volume.engine.listings.volumes) == 0

    def test_a_released_volume_waits(self):
        """A released volume is not that of a new claim, even of the same name."""
        spec = {"storageClassName": "none", "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"]}
        claim = self.claim("data", "none")
        given = there(small(), obj(manifest("PersistentVolume", "v", spec=spec)), claim)
        made = replay(*given, at(5, claim, DELETE), at(6, claim))
        records = played(made)
        assert len(of_event(records, "VolumeBound")) == 1
        assert [volume.phase for volume in made.engine.listings.volumes] == ["Released"]
