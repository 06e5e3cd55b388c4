"""What 1.28 and 1.29 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    claim,
    claims,
    csi_node,
    failed,
    feasible,
    has,
    host,
    init,
    message,
    only,
    only_on,
    profile,
    shows,
    sidecar,
    volume,
)

OFF = "Pod has a restartable init container and the SidecarContainers feature is disabled"
GCE_DRIVER, GCE_PLUGIN = "pd.csi.storage.gke.io", "kubernetes.io/gce-pd"
MIB = 1 << 20


def gce(number: int) -> dict[str, object]:
    return {"name": f"v{number}", "gcePersistentDisk": {"pdName": f"disk-{number}"}}


class TestRequests:
    def test_sidecars_count_beside_containers(self) -> None:
        """A sidecar of 2 cpu and a container of 3 need 5, where 1.27 sees the larger of both."""
        asked = pod("p", requests={"cpu": "3"}, initContainers=[sidecar("2")])
        shows({"1.27": "n", "1.28": None}, host, [node("n", cpu="4")], asked)
        shows({"1.27": "n"}, host, [node("n", cpu="5")], asked, until="1.27")
        shows({"1.29": "n"}, host, [node("n", cpu="5")], asked)

    def test_init_containers_run_beside_earlier_sidecars(self) -> None:
        """An init container counts together with the sidecars that were started before it."""
        asked = pod("p", requests={"cpu": "1"}, initContainers=[sidecar("1"), init("3")])
        shows({"1.27": "n"}, host, [node("n", cpu="3")], asked, until="1.27")
        shows({"1.29": {"n": ["Insufficient cpu"]}}, failed, [node("n", cpu="3")], asked)

    def test_init_containers_do_not_run_beside_later_sidecars(self) -> None:
        """A sidecar that is started after an init container does not count beside it."""
        asked = pod("p", requests={"cpu": "1"}, initContainers=[init("3"), sidecar("1")])
        shows({"1.29": "n"}, host, [node("n", cpu="3")], asked)

    def test_the_gate_off_rejects(self) -> None:
        """With the gate off, which is the default of 1.28, a pod with a sidecar fits on no node."""
        asked = pod("p", initContainers=[sidecar("1")])
        shows({"1.27": {}, "1.28": {"n": [OFF]}, "1.29": {}}, failed, [node("n")], asked)

    def test_bound_sidecars_count_without_the_gate(self) -> None:
        """Sidecars of pods on nodes count in full, whatever the gate says."""
        there = bound("there", "n", requests={"cpu": "1"}, initContainers=[sidecar("2")])
        shows({"1.27": "n", "1.28": None}, host, [node("n", cpu="4"), there], pod("p", requests={"cpu": "2"}))

    def test_only_what_is_asked_is_compared(self) -> None:
        """A pod that asks for memory alone fits on a node with too much cpu given away."""
        there = bound("there", "n", requests={"cpu": "5"})
        shows({"1.27": None, "1.28": "n"}, host, [node("n", cpu="4"), there], pod("p", requests={"memory": "1Gi"}))


class TestNodesOutsidePreFilter:
    NODES = (node("a", cpu="1"), node("b", cpu="1"))
    ASKED = pod("p", requests={"cpu": "2"}, affinity=only_on("b"))

    def test_no_status(self) -> None:
        """Nodes outside the set of a PreFilter plugin have a reason in 1.27, none from 1.28 on, and again one from 1.32 on."""
        small = {"b": ["Insufficient cpu"]}
        old, new = "node is filtered out by the prefilter result", "node(s) didn't satisfy plugin(s) [NodeAffinity]"
        shows({"1.27": {"a": [old], **small}, "1.28": small, "1.32": {"a": [new], **small}}, failed, self.NODES, self.ASKED)

    def test_not_counted_in_the_message(self) -> None:
        """The message names fewer nodes than there are where such nodes have no status."""
        told = "0/2 nodes are available: 1 Insufficient cpu"
        shows(
            {
                "1.27": f"{told}, 1 node is filtered out by the prefilter result.", "1.28": f"{told}.",
                "1.32": f"{told}, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
            }, lambda found: message(found).replace(". no new claims to deallocate,", "."), self.NODES, self.ASKED,
        )  # fmt: skip

    def test_unknown_names_give_no_reason(self) -> None:
        """A pod that wants a node which does not exist fails without any reason."""
        asked = pod("p", affinity=only_on("z"))
        shows({"1.28": "0/2 nodes are available:"}, lambda found: message(found).strip(), self.NODES, asked, until="1.31")

    def test_the_next_search(self) -> None:
        """The next search starts after the nodes that were looked at, without those outside."""
        three = [node("a"), node("b"), node("c")]
        shows({"1.28": ["b", "c", "a"]}, feasible, three, pod("p", affinity=only_on("a")), pod("q"))


class TestSkips:
    def test_spreading_without_constraints(self) -> None:
        """PodTopologySpread gives no scores to a pod without constraints, so that totals fall by 100 times its weight."""
        nodes = [node("a"), node("b")]
        shows({"1.27": True, "1.28": False}, has("PodTopologySpread"), nodes, pod("p"))
        by_spread = lambda found: found["scores"]["a"] - found["priorities"]["NodeResourcesFit"]["a"]  # noqa: E731
        given = only("NodeResourcesFit", "PodTopologySpread")
        shows({"1.27": 100, "1.28": 0}, by_spread, nodes, pod("p", requests={"cpu": "1"}), profile=given)

    def test_affinity_without_terms(self) -> None:
        """InterPodAffinity gives no scores where no term counts."""
        shows({"1.27": True, "1.28": False}, has("InterPodAffinity"), [node("a"), node("b")], pod("p"))

    def test_nominated_users_of_a_claim(self) -> None:
        """A ReadWriteOncePod claim that only a nominated pod uses keeps nobody out."""
        only_one = {"accessModes": ["ReadWriteOncePod"]}
        objects = [node("n"), claim("data", "v", **only_one), volume("v", "data", **only_one, csi={"driver": "d", "volumeHandle": "h"})]
        first, second = (pod(name, priority=priority, volumes=claims("data")) for name, priority in (("first", 9), ("second", 0)))
        shows({"1.27": None, "1.28": "n"}, host, objects, second, nominated=[(first, "n")])


class TestVolumes:
    def test_gce_is_migrated_everywhere(self) -> None:
        """In-tree disks of GCE are not limited as such on nodes that have a CSINode, whatever its annotation says."""
        there = bound("there", "n", volumes=[gce(number) for number in range(16)])
        objects = [node("n"), csi_node("n"), there]
        shows({"1.27": None, "1.28": "n"}, host, objects, pod("p", volumes=[gce(99)]))

    def test_gce_counts_for_its_driver(self) -> None:
        """In-tree disks of GCE count for the limit of their driver without the annotation."""
        objects = [node("n"), csi_node("n", **{GCE_DRIVER.replace(".", "__"): 1}), bound("there", "n", volumes=[gce(1)])]
        shows({"1.27": "n", "1.28": None}, host, objects, pod("p", volumes=[gce(2)]))

    def test_newer_zone_labels(self) -> None:
        """A volume's beta zone label is held to the node's newer label where the node has no beta label."""
        labels = {"failure-domain.beta.kubernetes.io/zone": "z"}
        objects = [
            node("n", labels={"topology.kubernetes.io/zone": "z"}), claim("data", "v"),
            volume("v", "data", labels, csi={"driver": "d", "volumeHandle": "h"}),
        ]  # fmt: skip
        shows({"1.27": None, "1.29": "n"}, host, objects, pod("p", volumes=claims("data")))

    def test_newer_labels_of_volumes_need_newer_labels_of_nodes(self) -> None:
        """The other way round it is a conflict in all releases."""
        labels = {"topology.kubernetes.io/zone": "z"}
        objects = [
            node("n", labels={"failure-domain.beta.kubernetes.io/zone": "z"}), claim("data", "v"),
            volume("v", "data", labels, csi={"driver": "d", "volumeHandle": "h"}),
        ]  # fmt: skip
        shows({"1.27": None}, host, objects, pod("p", volumes=claims("data")))


class TestWords:
    def test_operators_are_listed(self) -> None:
        """The error about an unknown operator of a preferred affinity names the known ones."""
        term = {"weight": 1, "preference": {"matchExpressions": [{"key": "k", "operator": "Foo", "values": ["v"]}]}}
        asked = pod("p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}})
        known = lambda found: 'supported values: "In", "NotIn"' in found["error"]  # noqa: E731
        shows({"1.27": False, "1.28": True}, known, [node("a"), node("b")], asked)

    def test_one_full_stop(self) -> None:
        """The message ends in one full stop from 1.29 on, in two before."""
        asked = pod("p", requests={"cpu": "2"})
        shows({"1.27": True, "1.29": False}, lambda found: found["error"].endswith(".."), [node("n", cpu="1")], asked)


class TestImages:
    def test_nodes_with_an_image_count_alike(self) -> None:
        """How many nodes have an image is the same number for each of them, where 1.28 counts those that came before."""
        images = [{"names": ["img:latest"], "sizeBytes": 500 * MIB}]
        nodes = [node("a", images=images), node("b", images=images)]
        same = lambda found: len(set(found["priorities"]["ImageLocality"].values())) == 1  # noqa: E731
        shows({"1.27": False, "1.29": True}, same, nodes, pod("p"))


class TestConfiguration:
    def test_v1beta2(self) -> None:
        """1.28 reads no configuration of v1beta2."""
        given = {"apiVersion": "kubescheduler.config.k8s.io/v1beta2"}
        shows({"1.27": False, "1.28": True}, lambda found: "refused" in found, [node("n")], pod("p"), profile=given)

    def test_v1beta3(self) -> None:
        """1.29 reads no configuration of v1beta3."""
        given = {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}
        shows({"1.27": False, "1.29": True}, lambda found: "refused" in found, [node("n")], pod("p"), profile=given)

    def test_locked_read_write_once_pod(self) -> None:
        """ReadWriteOncePod cannot be switched off from 1.29 on."""
        told = "cannot set feature gate ReadWriteOncePod to false, feature is locked to true"
        shows({"1.27": "n", "1.29": told}, host, [node("n")], pod("p"), gates={"ReadWriteOncePod": False}, until="1.30")

    def test_selector_spread_is_gone(self) -> None:
        """SelectorSpread can be enabled by multiPoint up to 1.28."""
        given = profile(plugins={"multiPoint": {"enabled": [{"name": "SelectorSpread"}]}})
        shows({"1.27": True, "1.29": False}, lambda found: "refused" not in found, [node("n")], pod("p"), profile=given)
