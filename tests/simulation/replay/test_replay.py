"""What happens over virtual time: pods come, wait, run, finish, are evicted; nodes fail; volumes are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubeclassic.exceptions import ManifestError
from kubeclassic.simulation.engines import ALL_RELEASES
from kubeclassic.simulation.replay.inputs.traces import DELETE, DRAIN, FAIL, RECOVER, UPDATE
from kubeclassic.simulation.replay.replay import Replay
from kubeclassic.simulation.replay.settings import Delays
from tests.support.build import node, obj, pod
from tests.support.replaybuild import BUSY, at, engine, of_file, played, replay, there, told

ALL = list(ALL_RELEASES)


def small(name: str = "a", cpu: str = "2", **more: Any) -> Any:
    """A node for two pods of one cpu."""
    return node(name, cpu=cpu, **more)


def asking(name: str, cpu: str = "1", **more: Any) -> Any:
    """A pod that asks for a cpu."""
    return pod(name, requests={"cpu": cpu}, **more)


class TestRunning:
    @pytest.mark.parametrize("release", ALL)
    def test_a_pod_that_finishes_makes_room_for_one_that_waits(self, release: str) -> None:
        """Where a node is full, the next pod waits for as long as the first one runs and until its back-off is over."""
        events = [*there(small(cpu="1")), at(5, asking("one"), runs=60), at(10, asking("two"))]
        records = played(replay(*events, release=release))
        assert told(records, "Scheduled")[0] == (5, "default/one")
        assert told(records, "Finished") == [(65, "default/one")]
        ((time, name),) = told(records, "Scheduled")[1:]
        assert (name, 65 <= time <= 66) == ("default/two", True)

    def test_delays_add_up(self) -> None:
        """A pod is bound after the binding delay, runs after the startup delay, and its run time counts from then."""
        records = played(replay(*there(small()), at(1, asking("one"), runs=10), binding=2, startup=3))
        assert [(record["time"], record["event"]) for record in records] == [
            (1, "Arrived"), (1, "Scheduled"), (3, "Bound"), (6, "Started"), (16, "Finished"),
        ]  # fmt: skip

    @pytest.mark.parametrize("release", ALL)
    def test_a_pod_keeps_its_place_until_it_is_bound(self, release: str) -> None:
        """However long its binding takes no other pod gets its place, and a bound pod is confirmed at once: its place cannot expire."""
        made = replay(*there(small(cpu="1")), at(0, asking("one")), at(50, asking("two")), release=release, binding=100, until=300)
        records = played(made)
        assert told(records, "Scheduled") == [(0, "default/one")]
        assert told(records, "Bound") == [(100, "default/one")]
        assert made.cluster.engine.cache.counts == (1, 1, 0)  # nodes, pods, assumed pods

    def test_cycles_are_one_after_the_other(self) -> None:
        """With a cycle time of a second, pods that come together are scheduled a second apart, and their waits say so."""
        made = replay(*there(small(cpu="9")), *(at(0, asking(f"pod-{i}")) for i in range(4)), cycle=1)
        assert [time for time, _ in told(played(made), "Scheduled")] == [0, 1, 2, 3]
        assert made.cluster.tally.wait_record() == {"mean": 1.5, "p50": 1.5, "p90": 2.7, "p95": 2.85, "p99": 2.97, "max": 3}

    @pytest.mark.parametrize("release", ALL)
    def test_waits_end_while_the_scheduler_is_busy(self, release: str, tmp_path: Path) -> None:
        """A pod whose wait ends in the middle of a cycle is tried after it."""
        made = Replay(of_file(tmp_path, BUSY), engine(release), Delays(cycle=0.7), until=400)
        assert told(played(made), "Scheduled")
        assert made.now == 400

    def test_bound_pods_finish_too(self) -> None:
        """A pod that is on its node from the beginning runs from then on."""
        records = played(replay(*there(small()), at(0, asking("old", on="a"), runs=7)))
        assert told(records, "Finished") == [(7, "default/old")]

    def test_the_end_comes_though_pods_wait(self) -> None:
        """Once nothing can change any more, a replay ends, be there pods that fit nowhere."""
        made = replay(*there(small()), at(0, asking("big", cpu="3")))
        played(made)
        assert (made.cluster.ledger.waiting_pods, made.now < 100) == (1, True)

    def test_until(self) -> None:
        """A replay stops at its last virtual second and takes no part of what comes later."""
        made = replay(*there(small()), at(5, asking("one")), at(50, asking("two")), until=20)
        assert told(played(made), "Scheduled") == [(5, "default/one")]
        assert made.now == 20

    def test_a_deleted_pod_frees_its_node(self) -> None:
        """A pod that is deleted makes room as one that finishes does."""
        one = asking("one")
        records = played(replay(*there(small(cpu="1")), at(0, one), at(1, asking("two")), at(30, one, DELETE), release="1.13"))
        assert told(records, "Scheduled") == [(0, "default/one"), (30, "default/two")]

    def test_deleted_while_it_is_being_bound(self) -> None:
        """A pod that goes before it is bound leaves nothing behind on its node."""
        one = asking("one", cpu="2")
        events = [*there(small()), at(0, one), at(1, one, DELETE), at(2, asking("two", cpu="2"))]
        assert told(played(replay(*events, binding=5)), "Bound") == [(7, "default/two")]


class TestFailing:
    @pytest.mark.parametrize(("release", "times"), [("1.15", [0, 12]), ("1.13", [0, 10])])
    def test_a_pod_that_failed_backs_off(self, release: str, times: list[float]) -> None:
        """From 1.14 on a pod that failed a second time waits two seconds, and for the next flush; before, it is tried at once."""
        events = [*there(small(cpu="1")), at(0, asking("one", cpu="2")), at(9.5, small("b", cpu="1")), at(10, small("c"))]
        records = played(replay(*events, release=release))
        failed = [time for time, _ in told(records, "FailedScheduling")]
        assert [failed[0], told(records, "Scheduled")[0][0]] == times

    @pytest.mark.parametrize(("release", "winner"), [("1.12", "a"), ("1.13", "z"), ("1.14", "z")])
    def test_who_failed_first_is_tried_first(self, release: str, winner: str) -> None:
        """Pods that failed are ordered by when they did: in 1.13 by the time that each attempt writes; 1.12 knows no time."""
        events = [*there(small(cpu="0")), at(0, asking("z")), at(5, asking("a")), at(10, small("b", cpu="1"))]
        assert told(played(replay(*events, release=release)), "Scheduled") == [(10, f"default/{winner}")]

    @pytest.mark.parametrize(("release", "attempts"), [("1.12", 2), ("1.13", 4)])
    def test_a_pod_is_tried_again_a_minute_after_it_failed(self, release: str, attempts: int) -> None:
        """In 1.13 a parked pod is moved by the look at 90 s, then 180 s; in 1.12 only events move it."""
        made = replay(*there(small()), at(0, asking("big", cpu="3")), at(200, small("b", cpu="1")), release=release)
        played(made)
        assert made.cluster.tally.failed_attempts == attempts

    def test_the_same_failure_is_told_once(self) -> None:
        """Attempts that fail with the same message are counted, and written once."""
        made = replay(*there(small()), at(0, asking("big", cpu="3")), at(200, small("b", cpu="1")))
        records = played(made)
        assert [record["message"] for record in records if record["event"] == "FailedScheduling"] == [
            "0/1 nodes are available: 1 Insufficient cpu.",
            "0/2 nodes are available: 2 Insufficient cpu.",
        ]
        assert made.cluster.tally.failed_attempts > 2

    @pytest.mark.parametrize("release", ALL)
    def test_what_cannot_have_changed_is_not_worked_out_again(self, tmp_path: Path, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Repeating a failed attempt's answer on an unchanged cluster gives what working it out again gives."""
        inputs = of_file(tmp_path, BUSY.replace("cpu: 900m", "cpu: 1900m"))
        quick = Replay(inputs, engine(release), seed=1)
        wanted, again = played(quick), Replay(inputs, engine(release), seed=1)
        monkeypatch.setattr(type(again.engine.flow), "can_repeat", lambda self, decision: False)
        assert played(again) == wanted
        assert again.engine.flow.order.one_pass().tolist() == quick.engine.flow.order.one_pass().tolist()

    def test_who_left_without_a_node(self) -> None:
        """Pods that are deleted while they wait are counted."""
        big = asking("big", cpu="3")
        made = replay(*there(small()), at(0, big), at(5, big, DELETE))
        played(made)
        assert (made.cluster.tally.never_scheduled, made.cluster.tally.deleted) == (1, 1)


class TestPreempting:
    @pytest.mark.parametrize("release", ALL)
    @pytest.mark.parametrize("termination", [0.0, 20.0])
    def test_victims_leave_and_the_pod_gets_their_place(self, release: str, termination: float) -> None:
        """A pod of high priority evicts one of low priority and is on its node soon after that is gone."""
        low, high = asking("low", cpu="2"), asking("high", cpu="2", priority=10)
        records = played(replay(*there(small()), at(0, low), at(5, high), release=release, termination=termination))
        assert [(record["pod"], record["by"]) for record in records if record["event"] == "Preempted"] == [("default/low", "default/high")]
        assert told(records, "Deleted") == [(5 + termination, "default/low")]
        time, name = told(records, "Scheduled")[-1]
        assert name == "default/high"
        assert 5 + termination <= time <= 5 + termination + 11

    def test_room_is_kept_for_who_made_it(self) -> None:
        """While victims leave, a pod of the same priority that comes later does not get the place."""
        low, high, late = asking("low", cpu="2"), asking("high", cpu="2", priority=10), asking("late", cpu="2", priority=10)
        records = played(replay(*there(small()), at(0, low), at(5, high), at(6, late), termination=20))
        assert [name for _, name in told(records, "Scheduled")] == ["default/low", "default/high"]

    def test_victims_of_a_controller_come_again(self) -> None:
        """An evicted pod that a ReplicaSet owns is replaced by a new one, which waits."""
        owner = {"ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}]}
        low, high = asking("low", cpu="2", metadata=owner), asking("high", cpu="2", priority=10)
        records = played(replay(*there(small()), at(0, low), at(5, high), at(50, small("b"))))
        assert told(records, "Scheduled")[-1] == (50, "default/low-again1")

    def test_without_preemption(self) -> None:
        """With preemption off nobody is evicted."""
        events = [*there(small()), at(0, asking("low", cpu="2")), at(5, asking("high", cpu="2", priority=10))]
        assert told(played(replay(*events, options={"preemption": False})), "Preempted") == []


class TestNodes:
    def test_pods_of_a_failed_node_are_given_up(self) -> None:
        """The pods of a failed node are evicted after the failure delay; one that tolerates it for ever stays."""
        stays = asking("stays", on="a", tolerations=[{"operator": "Exists"}])
        events = [*there(small(), asking("goes", on="a"), stays), at(10, small(), FAIL)]
        records = played(replay(*events, failure=40))
        assert told(records, "Evicted") == [(50, "default/goes")]

    def test_a_node_that_recovers_keeps_its_pods(self) -> None:
        """A node that is back before the delay is over keeps its pods and takes new ones."""
        events = [*there(small(), asking("one", on="a")), at(10, small(), FAIL), at(12, asking("two")), at(20, small(), RECOVER)]
        records = played(replay(*events, failure=40))
        assert told(records, "Evicted") == []
        assert 20 <= told(records, "Scheduled")[0][0] <= 21

    def test_a_drained_node_is_empty_and_stays_so(self) -> None:
        """All pods but a DaemonSet's leave a drained node, and nobody comes."""
        daemon = asking("d", on="a", metadata={"ownerReferences": [{"kind": "DaemonSet", "name": "d", "uid": "1", "controller": True}]})
        made = replay(*there(small(), asking("one", on="a"), daemon), at(1, small(), DRAIN), at(2, asking("two")))
        records = played(made)
        assert told(records, "Evicted") == [(1, "default/one")]
        assert [life.key for life in made.waiting] == ["default/two"]

    def test_pods_of_a_deleted_node_go_after_it(self) -> None:
        """Pods whose node was deleted are given up after the failure delay."""
        records = played(replay(*there(small(), asking("one", on="a")), at(1, small(), DELETE), failure=5))
        assert told(records, "NodeDeleted") + told(records, "Evicted") == [(1, "a"), (6, "default/one")]

    def test_an_unknown_node(self) -> None:
        """A failure of a node that is not there is bad input."""
        with pytest.raises(ManifestError, match="test: Fail: got b, wanted a node that exists at that time"):
            played(replay(*there(small()), at(1, small("b"), FAIL)))


class TestUpdates:
    def test_a_pod_in_the_replay_keeps_its_node(self) -> None:
        """A recorded update changes labels and the like; where the pod went in the recording is not taken over."""
        changed = asking("one", on="elsewhere", labels={"a": "b"}, status={"phase": "Running"})
        made = replay(*there(small()), at(1, asking("one")), at(2, changed, UPDATE))
        played(made)
        now = made.cluster.pod("default/one")
        assert now is not None
        assert (now.spec.node_name, now.labels) == ("a", {"a": "b"})

    def test_an_update_of_one_that_is_gone(self) -> None:
        """An update of a pod that has finished here does not bring it back."""
        records = played(replay(*there(small()), at(1, asking("one"), runs=5), at(10, asking("one", labels={"a": "b"}), UPDATE)))
        assert told(records, "Arrived") == [(1, "default/one")]

    def test_an_update_that_lets_a_pod_fit(self) -> None:
        """A pod whose update lets it fit is scheduled then."""
        selecting = {"nodeSelector": {"disk": "ssd"}}
        records = played(replay(*there(small()), at(1, asking("one", **selecting)), at(10, asking("one", labels={"x": "y"}), UPDATE)))
        assert told(records, "Scheduled") == [(10, "default/one")]


class TestVolumes:
    LATE = obj(
        {
            "kind": "StorageClass",
            "metadata": {"name": "late"},
            "provisioner": "kubernetes.io/aws-ebs",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    NOW = obj({"kind": "StorageClass", "metadata": {"name": "now"}, "provisioner": "example.com/disk", "volumeBindingMode": "Immediate"})
    LOCAL = obj(
        {
            "kind": "StorageClass",
            "metadata": {"name": "local"},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    ZONE = "failure-domain.beta.kubernetes.io/zone"

    @staticmethod
    def claim(name: str, kind: str) -> Any:
        """A claim for a gibibyte."""
        spec = {"storageClassName": kind, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        return obj({"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"}, "spec": spec})

    @staticmethod
    def using(name: str, claim: str) -> Any:
        """A pod with a claim."""
        return asking(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])

    @pytest.mark.parametrize("release", ALL)
    def test_a_delayed_claim_gets_a_volume_where_its_pod_goes(self, release: str) -> None:
        """A volume is made for a delayed claim once its pod has a node, in the node's zone, and the pod is bound after that."""
        events = there(small(labels={self.ZONE: "z1"}), self.LATE, self.claim("data", "late"))
        made = replay(*events, at(5, self.using("db", "data")), release=release, provisioning=7)
        records = played(made)
        assert told(records, "VolumeProvisioned") == [(12, "a")]
        assert told(records, "Bound") == [(12, "default/db")]
        (volume,) = made.engine.listings.volumes
        assert (volume.labels, volume.phase) == ({self.ZONE: "z1"}, "Bound")

    @pytest.mark.parametrize("release", ALL)
    def test_an_immediate_claim_gets_its_volume_by_itself(self, release: str) -> None:
        """A claim that does not wait for a pod has its volume made at once; a pod waits for that."""
        events = [*there(small(), self.NOW, self.claim("data", "now")), at(1, self.using("db", "data"))]
        records = played(replay(*events, release=release, provisioning=10))
        assert told(records, "VolumeProvisioned") == [(10, "pvc-default-data")]
        assert 10 <= told(records, "Bound")[0][0] <= 12

    @pytest.mark.parametrize("release", ALL)
    def test_two_pods_share_out_local_volumes(self, release: str) -> None:
        """Delayed claims are bound to the volumes that are there, each on the node of its pod."""
        volumes = [
            obj({
                "kind": "PersistentVolume", "metadata": {"name": f"disk-{name}"}, "status": {"phase": "Available"},
                "spec": {"storageClassName": "local", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"],
                         "nodeAffinity": {"required": {"nodeSelectorTerms": [
                             {"matchExpressions": [{"key": "host", "operator": "In", "values": [name]}]}]}}},
            }) for name in "ab"
        ]  # fmt: skip
        nodes = [small(name, labels={"host": name}) for name in "ab"]
        claims = [self.claim(f"data-{i}", "local") for i in range(3)]
        pods = [at(i + 1, self.using(f"db-{i}", f"data-{i}")) for i in range(3)]
        made = replay(*there(*nodes, *volumes, self.LOCAL, *claims), *pods, release=release)
        records = played(made)
        assert [name for _, name in told(records, "Bound")] == ["default/db-0", "default/db-1"]
        assert sorted(record["volume"] for record in records if record["event"] == "VolumeBound") == ["disk-a", "disk-b"]
        assert [life.key for life in made.waiting] == ["default/db-2"]

    def test_a_deleted_claim_gives_its_volume_back(self) -> None:
        """A volume that was made for a claim goes with it; one that was there before is released."""
        made_volume = replay(*there(small(), self.NOW, self.claim("data", "now")), at(5, self.claim("data", "now"), DELETE))
        played(made_volume)
        assert len(made_volume.engine.listings.volumes) == 0
