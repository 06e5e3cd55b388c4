"""The sum of a pod's containers, and its users: quotas, limit ranges, and pictures of nodes."""

import yaml

from kubeclassic.api.cluster import uses_of
from kubeclassic.api.controlplane import out_of_bounds, usage
from kubeclassic.api.meaning.podtotals import limits_of, requests_of, total_of, uses
from tests.support.build import manifest, node, obj, pod


def container(name, cpu, *, sidecar=False):
    """A container with equal request and limit."""
    amounts = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    return {"name": name, "resources": amounts} | ({"restartPolicy": "Always"} if sidecar else {})


def made(**spec):
    """A container of 3 cpu; a sidecar of 2 between two init containers of 1 and 4."""
    first = [container("a", "1"), container("s", "2", sidecar=True), container("b", "4")]
    return pod("p", on="n", containers=[container("main", "3")], initContainers=first, **spec)


def test_uses():
    """An init container runs with the sidecars before it."""
    assert [use["cpu"].value() for use in uses(made().spec, requests_of)] == [1, 2, 6]


def test_totals():
    """The largest of containers with sidecars, and of what runs with an init container; requests and limits
    alike."""
    assert (
        total_of(made().spec, requests_of)["cpu"].value()
        == total_of(made().spec, limits_of)["cpu"].value()
        == 6
    )


def test_quotas():
    """A quota counts sidecars, in place of requests what the pod as a whole asks for, and its overhead, which
    is no limit by itself."""
    assert usage(made())["requests.cpu"].value() == 6
    heavy = usage(made(overhead={"cpu": "1", "memory": "1Gi"}))
    assert (heavy["requests.cpu"].value(), heavy["limits.cpu"].value(), str(heavy["requests.memory"])) == (
        7,
        7,
        "1Gi",
    )
    assert "limits.memory" not in heavy
    whole = usage(made(resources={"requests": {"cpu": "5", "memory": "1Gi"}}))
    assert (whole["requests.cpu"].value(), whole["limits.cpu"].value(), str(whole["requests.memory"])) == (
        5,
        6,
        "1Gi",
    )


def test_limit_ranges():
    """The bound of a pod is held against all that its containers need together."""
    found = obj(manifest("LimitRange", "l", spec=yaml.safe_load("{limits: [{type: Pod, max: {cpu: '5'}}]}")))
    assert out_of_bounds(made(), [found]) == "maximum cpu usage per Pod is 5, but limit is 6"


def test_pictures_of_nodes():
    """A node's share has its pods' sidecars in it."""
    found = uses_of([node("n", cpu="12")], [made()])
    assert found.sides[0].uses["cpu"] == [0.5]
