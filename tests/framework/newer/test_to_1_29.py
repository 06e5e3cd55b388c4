"""What 1.28 and 1.29 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from tests.support.build import node, pod
from tests.support.releasewalk import (
    claim,
    claims,
    failed,
    feasible,
    has,
    host,
    init,
    message,
    only,
    only_on,
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
    def test_init_containers_do_not_run_beside_later_sidecars(self) -> None:
        """A sidecar that is started after an init container does not count beside it."""
        asked = pod("p", requests={"cpu": "1"}, initContainers=[init("3"), sidecar("1")])
        shows({"1.29": "n"}, host, [node("n", cpu="3")], asked)


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


class TestVolumes:
    def test_newer_labels_of_volumes_need_newer_labels_of_nodes(self) -> None:
        """The other way round it is a conflict in all releases."""
        labels = {"topology.kubernetes.io/zone": "z"}
        objects = [
            node("n", labels={"failure-domain.beta.kubernetes.io/zone": "z"}), claim("data", "v"),
            volume("v", "data", labels, csi={"driver": "d", "volumeHandle": "h"}),
        ]  # fmt: skip
        shows({"1.27": None}, host, objects, pod("p", volumes=claims("data")))


class TestWords:
    def test_one_full_stop(self) -> None:
        """The message ends in one full stop from 1.29 on, in two before."""
        asked = pod("p", requests={"cpu": "2"})
        shows({"1.27": True, "1.29": False}, lambda found: found["error"].endswith(".."), [node("n", cpu="1")], asked)




class TestConfiguration:
    def test_locked_read_write_once_pod(self) -> None:
        """ReadWriteOncePod cannot be switched off from 1.29 on."""
        told = "cannot set feature gate ReadWriteOncePod to false, feature is locked to true"
        shows({"1.27": "n", "1.29": told}, host, [node("n")], pod("p"), gates={"ReadWriteOncePod": False}, until="1.30")

