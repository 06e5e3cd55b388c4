"""What resources, images, taints, affinity and spread decide from 1.17 to 1.26 unlike the release after each, a sentence a test."""

from __future__ import annotations

from typing import Any

from tests.support.build import node, obj, pod
from tests.support.middlewalk import answer, error, failed, hold, host, scores_of

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
APP = {"app": "web"}
WEB = {"matchLabels": APP}
SPREAD = scores_of("PodTopologySpread")
TWO = [node("n"), node("m")]
AFFINITY, NEAR, IMAGES = scores_of("NodeAffinity"), scores_of("InterPodAffinity"), scores_of("ImageLocality")


def fit(found: Json) -> Any:
    """The score of NodeResourcesFit, alike on each node."""
    return found["priorities"]["NodeResourcesFit"]["n"]


def balance(found: Json) -> Any:
    """The score of NodeResourcesBalancedAllocation, alike on each node."""
    return found["priorities"]["NodeResourcesBalancedAllocation"]["n"]


def asks(**requests: str) -> Json:
    return {"name": "c", "image": "img", "resources": {"requests": requests}}


def constraint(key: str = "zone", when: str = "DoNotSchedule", **more: Any) -> Json:
    return {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": when, "labelSelector": WEB, **more}


def spreading(*constraints: Json, name: str = "new", **more: Any) -> Any:
    return pod(name, labels=APP, topologySpreadConstraints=list(constraints), **more)


def web(name: str, on: str, **more: Any) -> Any:
    return pod(name, on=on, labels=APP, **more)


def zoned(**zones: str) -> list[Any]:
    return [node(name, labels={"zone": zone, HOST: name}) for name, zone in zones.items()]


def company(kind: str, *terms: Json, when: str = "required") -> Json:
    return {kind: {f"{when}DuringSchedulingIgnoredDuringExecution": list(terms)}}


def term(key: str = "zone", **more: Any) -> Json:
    return {"labelSelector": WEB, "topologyKey": key, **more}


def preferring(*terms: Json) -> Any:
    return pod("new", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": list(terms)}})


def preference(weight: int = 1, **more: Any) -> Json:
    return {"weight": weight, "preference": more}


class TestAmounts:
    def test_overhead_in_scores(self) -> None:
        """The overhead of the pod counts in scores by its integer value until 1.26, so that 1000m are one millicore."""
        new = pod("new", requests={"cpu": "1", "memory": "0"}, overhead={"cpu": "1"})
        hold({"1.26": 87, "1.27": 75}, fit, TWO, new)
        hold({"1.26": 87, "1.27": 75}, balance, TWO, new)

    def test_fit_leaves_out_overhead(self) -> None:
        """NodeResourcesFit does not count the pod's overhead in 1.22 and 1.23."""
        new = pod("new", requests={"cpu": "1", "memory": "0"}, overhead={"memory": "8Gi"})
        hold({"1.22": 87, "1.23": 87, "1.24": 75}, fit, TWO, new)

    def test_containers_are_rounded_by_themselves(self) -> None:
        """Two containers of half a millicore ask for two until 1.26, and for one in 1.27."""
        new = pod("new", containers=[asks(cpu="500u"), {**asks(cpu="500u"), "name": "d"}])
        hold({"1.26": {"n": ["Insufficient cpu"]}, "1.27": {}}, failed, [node("n", cpu="1m")], new)

    def test_scalars_of_zero(self) -> None:
        """A scalar of which the pod asks 0 is looked at until 1.25: a node with less than nothing left fails."""
        new, old = pod("new", requests={"a.com/gpu": "0"}), pod("old", on="n", requests={"a.com/gpu": "1"})
        hold({"1.25": {"n": ["Insufficient a.com/gpu"]}, "1.26": {}}, failed, [node("n"), old], new)

    def test_scalars_of_zero_of_init_containers(self) -> None:
        """An init container's scalar of 0 makes the pod ask for something from 1.22 on, so that an overcommitted node fails."""
        new = pod("new", initContainers=[{**asks(), "resources": {"requests": {"a.com/gpu": "0"}}}])
        objects = [node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})]
        hold({"1.21": {}, "1.22": {"n": ["Insufficient cpu"]}}, failed, objects, new)

    def test_local_storage(self) -> None:
        """Without gate LocalStorageCapacityIsolation pods ask for no local storage, but for init containers in 1.18 and 1.19."""
        few = [node("n", allocatable={"ephemeral-storage": "1Gi"})]
        wants = {"ephemeral-storage": "2Gi"}
        short = {"n": ["Insufficient ephemeral-storage"]}
        hold({"1.18": {}, "1.24": {}, "1.17": short}, failed, few, pod("new", requests=wants), LocalStorageCapacityIsolation=False)
        init = pod("new", initContainers=[{"name": "i", "image": "i", "resources": {"requests": wants}}])
        hold({"1.18": short, "1.19": short, "1.20": {}}, failed, few, init, LocalStorageCapacityIsolation=False)

    def test_nodes_without_storage(self) -> None:
        """Without that gate nodes have no local storage either from 1.18 on, so that a little is too much for an init container."""
        roomy = [node("n", allocatable={"ephemeral-storage": "1Gi"})]
        init = pod("new", initContainers=[{"name": "i", "image": "i", "resources": {"requests": {"ephemeral-storage": "1"}}}])
        short = {"n": ["Insufficient ephemeral-storage"]}
        hold({"1.17": {}, "1.18": short, "1.20": {}}, failed, roomy, init, LocalStorageCapacityIsolation=False)

    def test_sums_wrap(self) -> None:
        """What is asked and what is taken add up to less than nothing until 1.20, where 64 bits cannot hold it."""
        objects = [node("n", memory="7Ei"), pod("old", on="n", requests={"memory": "7Ei"})]
        new = pod("new", requests={"memory": "7Ei"})
        hold({"1.20": [], "1.21": ["Insufficient memory"]}, lambda found: found["failed"].get("n", []), objects, new)

    def test_one_reason(self) -> None:
        """1.17 gives the first of several short resources alone, and calls pods one of them."""
        full = [node("n", cpu="1", pods="1"), pod("old", on="n", requests={"cpu": "1"})]
        new = pod("new", requests={"cpu": "1"})
        hold({"1.17": {"n": ["Insufficient pods"]}, "1.18": {"n": ["Too many pods", "Insufficient cpu"]}}, failed, full, new)


class TestBalance:
    def test_of_two(self) -> None:
        """Until 1.21 the difference of cpu and memory counts in full, with defaults, and a full node gets nothing; then half of it."""
        new = pod("new", requests={"cpu": "2", "memory": "0"})
        hold({"1.21": 50, "1.22": 75}, balance, TWO, new)
        hold({"1.21": 0, "1.22": 50}, balance, TWO, pod("new", requests={"cpu": "4", "memory": "0"}))

    def test_volumes(self) -> None:
        """With gate BalanceAttachedNodeVolumes volumes are a third share; until 1.19 also for a pod without, if counts are left."""
        disk = {"name": "v", "awsElasticBlockStore": {"volumeID": "vol-1"}}
        half = {"cpu": "2", "memory": "0"}
        first, new = pod("first", requests=half, volumes=[disk]), pod("new", requests=half)
        gates = {"BalanceAttachedNodeVolumes": True}
        hold({"1.19": 50, "1.20": 50, "1.21": 50}, balance, TWO, first)
        hold({"1.19": 94, "1.20": 94, "1.21": 94}, balance, TWO, first, **gates)
        other = scores_of("NodeResourcesBalancedAllocation")
        hold({"1.19": True, "1.20": False}, lambda found: 94 in other(found).values(), TWO, first, new, **gates)


class TestTexts:
    def test_taints(self) -> None:
        """The reason of a taint has other words until 1.23, and in 1.17 it does not name the taint."""
        tainted = [node("n", taints=[{"key": "a", "value": "x", "effect": "NoSchedule"}])]
        wanted = {
            "1.17": "node(s) had taints that the pod didn't tolerate", "1.18": "node(s) had taint {a: x}, that the pod didn't tolerate",
            "1.23": "node(s) had taint {a: x}, that the pod didn't tolerate", "1.24": "node(s) had untolerated taint {a: x}",
        }  # fmt: skip
        hold({release: {"n": [text]} for release, text in wanted.items()}, failed, tainted, pod("new"))

    def test_node_affinity(self) -> None:
        """The reason of node affinity was reworded in 1.20 and 1.21."""
        wanted = {
            "1.19": "node(s) didn't match node selector", "1.20": "node(s) didn't match Pod's node affinity",
            "1.21": "node(s) didn't match Pod's node affinity/selector",
        }  # fmt: skip
        hold({release: {"n": [text]} for release, text in wanted.items()}, failed, [node("n")], pod("new", nodeSelector={"a": "b"}))

    def test_company(self) -> None:
        """A general reason comes before that of pod affinity until 1.21; 1.17 gives the one that counts."""
        near = pod("new", affinity=company("podAffinity", term()))
        away = pod("new", affinity=company("podAntiAffinity", term()))
        old, rules = "node(s) didn't match pod affinity/anti-affinity", "node(s) didn't match pod affinity/anti-affinity rules"
        own, refused = "node(s) didn't match pod affinity rules", "node(s) didn't match pod anti-affinity rules"
        objects = [*zoned(n="a"), web("old", "n")]
        wanted = {"1.17": [old], "1.18": [old, refused], "1.20": [old, refused], "1.21": [rules, refused], "1.22": [refused]}
        hold({release: {"n": texts} for release, texts in wanted.items()}, failed, objects, away)
        hold({"1.17": {"n": [own]}, "1.18": {"n": [old, own]}, "1.22": {"n": [own]}}, failed, zoned(n="a"), near)

    def test_selectors(self) -> None:
        """The fault of a selector names the field from 1.21 on."""
        new = preferring(preference(matchExpressions=[{"key": "a", "operator": "In", "values": []}]))
        plain = "for 'in', 'notin' operators, values set can't be empty"
        both = [node("n"), node("m")]
        hold({"1.20": True, "1.21": False}, lambda found: error(found).endswith(f": {plain}") and "[0]" not in error(found), both, new)


class TestNodeAffinity:
    def test_named_nodes(self) -> None:
        """From 1.24 on only the nodes that required terms name are looked at; before, others fail one by one."""
        fields = [{"key": "metadata.name", "operator": "In", "values": ["a"]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}}
        new = pod("new", affinity={"nodeAffinity": required})
        text = "node(s) didn't match Pod's node affinity/selector"
        hold({"1.23": {"b": [text]}, "1.24": {}, "1.26": {}}, failed, [node("a"), node("b")], new)

    def test_conflicts(self) -> None:
        """Until 1.26 a term whose names exclude each other rejects the pod, whatever the other terms are."""

        def named(*names: str) -> Json:
            return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}

        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [named("a"), named("a", "b")]}}
        hold({"1.24": None, "1.26": None, "1.27": "a"}, host, [node("a"), node("b")], pod("new", affinity={"nodeAffinity": required}))

    def test_preferred_fields(self) -> None:
        """The fields of preferred terms are read from 1.20 on."""
        new = preferring(preference(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["a"]}]))
        hold({"1.19": {"a": 0, "b": 0}, "1.20": {"a": 100, "b": 0}}, AFFINITY, [node("a"), node("b")], new)

    def test_sums_in_32_bits(self) -> None:
        """1.17 adds weights up in 32 bits."""
        there = {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}
        new = preferring(*[preference(2**31 - 1, **there)] * 2, preference(4, **there))
        hold({"1.17": {"a": 100, "b": 100}}, AFFINITY, [node("a"), node("b")], new)

    def test_invalid_selectors(self) -> None:
        """An invalid pair makes a nodeSelector match every node until 1.18, and none from 1.19 on."""
        hold({"1.18": "n", "1.19": None}, host, [node("n")], pod("new", nodeSelector={"a": "-bad-"}))


class TestCompany:
    def test_first_of_its_kind(self) -> None:
        """The first of pods that require each other may go to a node without the topology key until 1.18."""
        new = pod("new", labels=APP, affinity=company("podAffinity", term()))
        hold({"1.17": "n", "1.18": "n", "1.19": None}, host, [node("n")], new)

    def test_existing_pods_first(self) -> None:
        """Until 1.18 the anti-affinity of existing pods is told before the pod's own affinity."""
        objects = [*zoned(n="a"), pod("old", on="n", affinity=company("podAntiAffinity", term()))]
        new = pod("new", labels=APP, affinity=company("podAffinity", term(labelSelector={"matchLabels": {"app": "db"}})))
        existing, own = "node(s) didn't satisfy existing pods anti-affinity rules", "node(s) didn't match pod affinity rules"
        hold({"1.18": existing, "1.19": own}, lambda found: found["failed"]["n"][-1], objects, new)

    def test_namespace_selectors(self) -> None:
        """Selectors of namespaces need a gate from 1.21 on, and are not there before; without it the term reaches no namespace."""
        space = obj({"kind": "Namespace", "metadata": {"name": "default", "labels": {"team": "a"}}})
        away = company("podAntiAffinity", term(namespaceSelector={"matchLabels": {"team": "a"}}))
        objects, new = [space, *zoned(n="a"), web("old", "n")], pod("new", affinity=away)
        hold({"1.20": None, "1.21": "n", "1.22": None}, host, objects, new)
        hold({"1.21": None}, host, objects, new, PodAffinityNamespaceSelector=True)
        hold({"1.23": "n"}, host, objects, new, PodAffinityNamespaceSelector=False)

    def test_zero_takes_part(self) -> None:
        """Until 1.20 scores are scaled from 0, and from 1.21 on from the lowest."""
        liked = [
            {"weight": weight, "podAffinityTerm": term(HOST, labelSelector={"matchLabels": {"w": w}})} for w, weight in (("1", 1), ("2", 2))
        ]
        new = pod("new", affinity=company("podAffinity", *liked, when="preferred"))
        objects = [*zoned(a="x", b="x"), pod("p", on="a", labels={"w": "1"}), pod("q", on="b", labels={"w": "2"})]
        hold({"1.20": {"a": 50, "b": 100}, "1.21": {"a": 0, "b": 100}}, NEAR, objects, new)

    def test_unreadable_terms(self) -> None:
        """A pod with an invalid selector is rejected from 1.20 on; in 1.19 it has no such terms."""
        bad = {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}
        new = pod("new", affinity=company("podAffinity", term(labelSelector=bad)))
        hold({"1.19": "n", "1.20": None}, host, zoned(n="a"), new)


class TestImages:
    def test_bound(self) -> None:
        """Images are worth at most 1000 MB in all until 1.18, and for each container from 1.19 on."""
        images = [{"names": ["img:latest"], "sizeBytes": 2000 * 1024 * 1024}]
        new = pod("new", containers=[asks(), {**asks(), "name": "d", "image": "other"}])
        objects = [node("a", images=images), node("b", images=images)]
        hold({"1.18": {"a": 100, "b": 100}, "1.19": {"a": 49, "b": 100}}, IMAGES, objects, new)


class TestTrials:
    def test_terms_of_other_pods(self) -> None:
        """In 1.18 a nominated pod of another namespace refuses pods like those that its anti-affinity is about at home."""
        waiting = pod("waiting", namespace="other", priority=9, affinity=company("podAntiAffinity", term()))
        found = {r: answer(r, zoned(n="a"), pod("new", labels=APP), nominated=[(waiting, "n")])["host"] for r in ("1.17", "1.18", "1.19")}
        assert found == {"1.17": "n", "1.18": None, "1.19": "n"}
