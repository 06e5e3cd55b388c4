"""What 1.28 and 1.29 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from tests.support.build import node, pod
from tests.support.releasewalk import (
    claim,
    claims,
    host,
    init,
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






MINIMAL = ("PrioritySort", "DefaultBinder", "NodeResourcesFit", "PodTopologySpread")


def resources_alone(found: dict[str, dict[str, dict[str, int]]]) -> int:
    return found["priorities"]["NodeResourcesFit"]["a"]


class TestVolumes:
    def test_newer_labels_of_volumes_need_newer_labels_of_nodes(self) -> None:
        """The other way round it is a conflict in all releases."""
        labels = {"topology.kubernetes.io/zone": "z"}
        objects = [
            node("n", labels={"failure-domain.beta.kubernetes.io/zone": "z"}), claim("data", "v"),
            volume("v", "data", labels, csi={"driver": "d", "volumeHandle": "h"}),
        ]  # fmt: skip
        shows({"1.27": None}, host, objects, pod("p", volumes=claims("data")))






