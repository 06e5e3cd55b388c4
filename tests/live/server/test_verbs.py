"""The verbs of the extender server: what it answers to a scheduler."""

import pytest

from kubeclassic.api.ownfields import compact_json
from tests.support.serverbuild import Caller, as_pod, node_json, pod_json, three_nodes

RELEASES = ["1.12", "1.16", "1.27"]
ALL = ["a", "b", "c"]
LARGE = {"Pod": pod_json("x", cpu="3"), "NodeNames": ["a"]}
BIND = {"PodName": "w", "PodNamespace": "default", "PodUID": "uid-w", "Node": "a"}
each_release = pytest.mark.parametrize("release", RELEASES)


@pytest.fixture
def caller():
    """A caller of a server with three nodes: a is empty, b has room for 1 core, c is full."""
    return Caller.of(three_nodes())


# --- Filter -------------------------------------------------------------------------------------------------


def test_given_nodes_come_back_as_they_were(caller):
    """In the form of objects the nodes that fit come back with all that they had."""
    nodes = [{**node_json(name), "extra": {"kept": name}} for name in ALL]
    found = caller.asked(
        "/filter",
        {"Pod": pod_json("x", cpu="2"), "Nodes": {"metadata": {}, "items": nodes}, "NodeNames": None},
    )
    assert found["Nodes"] == {"metadata": {}, "items": [nodes[0]]}
    assert found["NodeNames"] is None


def test_given_nodes_count_as_they_are(caller):
    """A given node's labels, taints and room count instead of the server's own, for this question alone."""
    pod = pod_json("x", cpu="2", nodeSelector={"disk": "ssd"})
    nodes = [
        node_json("a", labels={"disk": "ssd"}),
        node_json("b", cpu="9", labels={"disk": "ssd"}),
        node_json("c"),
    ]
    found = caller.asked("/filter", {"Pod": pod, "Nodes": {"items": nodes}})
    assert [node["metadata"]["name"] for node in found["Nodes"]["items"]] == ["a", "b"]
    assert caller.asked("/filter", {"Pod": pod, "NodeNames": ALL})["NodeNames"] == []
    assert caller.asked("/filter", {"Pod": pod, "Nodes": {"items": [node_json("a")]}})["Nodes"]["items"] == []


def test_given_nodes_follow_the_cluster(caller):
    """Pods that come and nodes that change meanwhile count for later questions with given nodes."""
    served = caller.app.cluster
    nodes = {"items": [node_json("a", labels={"x": "y"}), node_json("b")]}
    ask = {"Pod": pod_json("x", cpu="2"), "Nodes": nodes}
    assert len(caller.asked("/filter", ask)["Nodes"]["items"]) == 1
    served.put(as_pod(pod_json("more", cpu="3", on="a")))
    served.delete(as_pod(pod_json("low", on="b")))
    found = caller.asked("/filter", ask)
    assert [node["metadata"]["name"] for node in found["Nodes"]["items"]] == ["b"]


def test_a_pod_that_was_made_again(caller):
    """A pod of another UID on another node takes room there, and none any more where the one of its name
    was."""
    again = {
        **pod_json("low", cpu="3", on="a"),
        "metadata": {"name": "low", "namespace": "default", "uid": "other"},
    }
    caller.app.cluster.put(as_pod(again))
    assert caller.asked("/filter", {"Pod": pod_json("x", cpu="2"), "NodeNames": ALL})["NodeNames"] == ["b"]


# --- Preemption ---------------------------------------------------------------------------------------------


def ask(caller, priority, victims):
    """The answer for a pod of 2 cores: node -> UIDs."""
    body = {"Pod": pod_json("x", cpu="2", priority=priority), "NodeNameToMetaVictims": victims}
    found = caller.asked("/preemption", body)
    return {
        name: [pod["UID"] for pod in victims["Pods"]]
        for name, victims in found["NodeNameToMetaVictims"].items()
    }


@each_release
def test_given_victims_stay_victims(release):
    """The scheduler's victims stay victims, though the server's own rules would spare them."""
    served = three_nodes(release=release)
    served.put(as_pod(pod_json("tiny", cpu="100m", on="b", priority=0)))
    caller = Caller.of(served)
    assert ask(caller, 9, {"b": {"Pods": []}}) == {"b": ["uid-low"]}
    assert ask(caller, 9, {"b": {"Pods": [{"UID": "uid-tiny"}]}}) == {"b": ["uid-low", "uid-tiny"]}


def test_a_victim_that_has_gone(caller):
    """A victim that the server does not have stays in the answer: the scheduler may know more."""
    assert ask(caller, 9, {"b": {"Pods": [{"UID": "gone"}]}}) == {"b": ["uid-low", "gone"]}


# --- Bind ---------------------------------------------------------------------------------------------------


def test_a_pod_of_an_earlier_question(caller):
    """A pod that the server knows from a filter call can be bound."""
    caller.asked("/filter", LARGE)
    assert caller.asked(
        "/bind", {"PodName": "x", "PodNamespace": "default", "PodUID": "uid-x", "Node": "a"}
    ) == {"Error": ""}
    assert caller.asked("/filter", {"Pod": pod_json("y", cpu="2"), "NodeNames": ["a"]})["NodeNames"] == []


def test_twice(caller):
    """A waiting pod gets its node, takes room there, and is not bound again: the answer's Error says so."""
    assert caller.asked("/bind", BIND) == {"Error": ""}
    assert caller.asked("/filter", LARGE)["NodeNames"] == []
    assert caller.asked("/bind", {**BIND, "Node": "b"}) == {
        "Error": "pod default/w is already assigned to node a"
    }


@pytest.mark.parametrize(
    "change, status, where",
    [
        ({"Node": "z"}, 422, "Node"),
        ({"Node": ""}, 400, "Node"),
        ({"PodName": "z"}, 422, "PodName"),
        ({"PodName": None}, 400, "PodName"),
        ({"PodUID": "other"}, 409, "PodUID"),
        ({"Node": 3}, 400, "Node"),
    ],
)
def test_what_is_not_there(caller, change, status, where):
    """An unknown pod or node, another UID and a wrong type are refused."""
    found = caller.post("/bind", {**BIND, **change})
    assert (found.status_code, found.json()["where"]) == (status, where)


def test_other_types_of_content(caller):
    """A page in a browser, which may send plain text without asking, binds nothing."""
    body = compact_json(BIND)
    assert (
        caller.call("POST", "/bind", content=body, headers={"content-type": "text/plain"}).status_code == 415
    )


@pytest.mark.parametrize("error", [None, "pods w is forbidden"])
def test_at_an_api_server(error):
    """With an API server the binding is written there first, and counts only if that went well."""
    written = []

    async def write(wanted):
        written.append(f"{wanted.key} {wanted.uid} {wanted.node}")
        return error

    caller = Caller.of(three_nodes(), write_binding=write)
    assert caller.asked("/bind", BIND) == {"Error": error or ""}
    assert written == ["default/w uid-w a"]
    found = caller.asked("/filter", LARGE)["NodeNames"]
    assert found == ([] if error is None else ["a"])
