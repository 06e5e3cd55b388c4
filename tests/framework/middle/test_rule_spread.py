"""What spread decides from 1.17 to 1.26 unlike the release after each, a sentence a test."""

from __future__ import annotations

from kubeclassic.api.objects import Pod
from tests.framework.middle.test_rule import APP, HOST, SPREAD, WEB, ZONE, Json, constraint, spreading, web, zoned
from tests.support.build import node, obj, pod
from tests.support.middlewalk import error, failed, hold, host, scores_of

UNEVEN = "node(s) didn't match pod topology spread constraints"
SOFT = "ScheduleAnyway"
SERVICE = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": APP}}


def terminating(name: str, on: str) -> Pod:
    return pod(name, on=on, labels=APP, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})


class TestHard:
    def test_missing_keys(self) -> None:
        """A node without the key fails like one in a full domain until 1.18, and for its label from 1.19 on."""
        objects = [*zoned(a="x"), node("n")]
        told = f"{UNEVEN} (missing required label)"
        hold({"1.18": {"n": [UNEVEN]}, "1.19": {"n": [told]}}, failed, objects, spreading(constraint()))

    def test_no_domain(self) -> None:
        """Until 1.19 every node fits where none has the keys."""
        hold({"1.19": "n", "1.20": None}, host, [node("n")], spreading(constraint()))

    def test_whole_domains(self) -> None:
        """From 1.19 to 1.23 pods on nodes that the pod's nodeSelector rejects count if another node of the domain is not rejected."""
        objects = [
            node("a", labels={"zone": "x", "ok": "y"}), node("b", labels={"zone": "x"}), node("c", labels={"zone": "z", "ok": "y"}),
            web("p", "b"),
        ]  # fmt: skip
        new = spreading(constraint(), nodeSelector={"ok": "y"})
        wanted = {"1.18": False, "1.19": True, "1.23": True, "1.24": False}
        hold(wanted, lambda found: found["failed"].get("a") == [UNEVEN], objects, new)

    def test_constraints_of_one_key(self) -> None:
        """Two constraints of one key both count a node's pods until 1.23; from 1.24 on the later one does."""
        other = constraint(labelSelector={"matchLabels": {"app": "none"}})
        new = spreading(constraint(maxSkew=1), other)
        objects = [*zoned(a="x", b="y"), web("p", "a")]
        hold({"1.18": ["a"], "1.23": ["a"], "1.24": []}, lambda found: sorted(found["failed"]), objects, new)

    def test_terminating_pods(self) -> None:
        """Pods that are being deleted count in 1.17."""
        objects = [*zoned(a="x", b="y"), terminating("p", "a")]
        hold({"1.17": ["a"], "1.18": []}, lambda found: sorted(found["failed"]), objects, spreading(constraint()), EvenPodsSpread=True)

    def test_empty_selectors(self) -> None:
        """A constraint with an empty selector counts every pod until 1.26, and none in 1.27."""
        objects = [*zoned(a="x", b="y"), pod("p", on="a")]
        hold({"1.26": ["a"], "1.27": []}, lambda found: sorted(found["failed"]), objects, spreading(constraint(labelSelector={})))

    def test_label_keys_alone(self) -> None:
        """matchLabelKeys select without a selector until 1.26."""
        new = spreading({**constraint(matchLabelKeys=["app"]), "labelSelector": None})
        objects = [*zoned(a="x", b="y"), web("p", "a")]
        gates = {"MatchLabelKeysInPodTopologySpread": True}
        hold({"1.26": ["a"], "1.27": []}, lambda found: sorted(found["failed"]), objects, new, **gates)

    def test_gates(self) -> None:
        """minDomains and node inclusion policies are read with their gates."""
        objects, few = [*zoned(a="x"), web("p", "a")], spreading(constraint(minDomains=2))
        hold({"1.24": "a", "1.26": "a", "1.27": None}, host, objects, few)
        hold({"1.24": None, "1.26": None}, host, objects, few, MinDomainsInPodTopologySpread=True)


class TestSoft:
    def test_idle(self) -> None:
        """Without soft constraints each node scores 0 until 1.18, and 100 from 1.19 on."""
        hold({"1.18": {"a": 0, "b": 0}, "1.19": {"a": 100, "b": 100}}, SPREAD, zoned(a="x", b="y"), pod("new"))

    def test_shares(self) -> None:
        """Until 1.18 a node scores by the share of peers outside its domain; then by their number."""
        objects = [*zoned(a="x", b="y"), *[web(f"p{i}", "a") for i in range(3)], web("q", "b")]
        hold({"1.18": {"a": 33, "b": 100}, "1.19": {"a": 25, "b": 100}}, SPREAD, objects, spreading(constraint(when=SOFT)))

    def test_all_the_best(self) -> None:
        """Until 1.18 a node without the key gets the best score, too, where no peer makes a difference."""
        objects = [*zoned(a="x"), node("n")]
        hold({"1.18": {"a": 100, "n": 100}, "1.19": {"a": 100, "n": 0}}, SPREAD, objects, spreading(constraint(when=SOFT)))

    def test_rounding(self) -> None:
        """Until 1.23 the score of a node is cut off before it is normalized; from 1.24 on it is rounded."""
        objects = [*zoned(a="x", b="y"), *[web(f"p{i}", "a") for i in range(2)], web("q", "b")]
        hold({"1.23": {"a": 50, "b": 100}, "1.24": {"a": 33, "b": 100}}, SPREAD, objects, spreading(constraint(when=SOFT)))

    def test_namespaces(self) -> None:
        """1.17 counts peers of every namespace."""
        objects = [*zoned(a="x", b="y"), web("p", "a", namespace="other")]
        new = spreading(constraint(when=SOFT))
        hold({"1.17": {"a": 0, "b": 100}, "1.18": {"a": 100, "b": 100}}, SPREAD, objects, new, EvenPodsSpread=True)

    def test_errors(self) -> None:
        """The error of an invalid selector begins with other words until 1.19."""
        bad = constraint(when=SOFT, labelSelector={"matchExpressions": [{"key": "a", "operator": "In", "values": []}]})
        told = "calculating preScoreState: obtaining pod's soft topology spread constraints"
        looks = {"1.19": True, "1.20": False}
        hold(looks, lambda found: f"error when {told}" in error(found), zoned(a="x", b="y"), spreading(bad))


class TestDefaults:
    def test_system(self) -> None:
        """The system's constraints are there from 1.20 on by default; in 1.19 with the gate, where nodes need all keys."""
        objects = [*zoned(a="x"), node("b", labels={HOST: "b", ZONE: "z"}), obj(SERVICE), web("p", "a")]
        new = pod("new", labels=APP)
        hold({"1.19": {"a": 100, "b": 100}, "1.20": {"a": 100, "b": 50}}, SPREAD, objects, new)
        hold({"1.19": {"a": 0, "b": 100}}, SPREAD, objects, new, DefaultPodTopologySpread=True)
        bare = [*zoned(a="x"), node("b", labels={HOST: "b", ZONE: "z"}), obj(SERVICE), web("p", "b")]
        hold({"1.19": {"a": 0, "b": 100}}, SPREAD, bare, new, DefaultPodTopologySpread=True)

    def test_without_the_gate(self) -> None:
        """Without gate DefaultPodTopologySpread SelectorSpread scores, in 1.23 at the end of multiPoint."""
        objects = [*zoned(a="x", b="y"), obj(SERVICE), web("p", "a")]
        spread = scores_of("SelectorSpread")
        hold({"1.22": None, "1.23": None}, spread, objects, pod("new", labels=APP))
        wanted = {"a": 0, "b": 100}
        hold({"1.22": wanted, "1.23": wanted}, spread, objects, pod("new", labels=APP), DefaultPodTopologySpread=False)

    def test_owners(self) -> None:
        """Until 1.21 each replica set whose selector matches the pod counts; from 1.22 on that which owns it."""
        owner: Json = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"}}
        objects = [*zoned(a="x", b="y"), obj({**owner, "spec": {"selector": WEB}}), web("p", "a")]
        hold({"1.21": {"a": 66, "b": 100}, "1.22": {"a": 100, "b": 100}}, SPREAD, objects, pod("new", labels=APP))
