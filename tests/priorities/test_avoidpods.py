"""NodePreferAvoidPodsPriority: nodes that want to be left alone by a controller's pods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubeclassic.priorities.avoidpods import avoided_controllers, node_prefer_avoid_pods
from tests.support.build import node, pod, scored

KEY = "scheduler.alpha.kubernetes.io/preferAvoidPods"


def entry(kind: str = "ReplicaSet", uid: str = "u", **more: Any) -> dict[str, Any]:
    """One entry of the annotation."""
    return {"podSignature": {"podController": {"kind": kind, "uid": uid, **more.pop("owner", {})}}, **more}


def annotation(*entries: Any) -> str:
    """The whole annotation."""
    return json.dumps({"preferAvoidPods": list(entries)})


def score(text: str | None, *owners: dict[str, Any]) -> int:
    """What a node with the annotation scores for a pod with these owners."""
    annotations = {} if text is None else {KEY: text}
    incoming = pod("p", metadata={"ownerReferences": list(owners)})
    return scored(node_prefer_avoid_pods, incoming, node("n", annotations=annotations))["n"]


def owner(kind: str = "ReplicaSet", uid: str = "u", controller: bool = True) -> dict[str, Any]:
    """An owner reference."""
    return {"kind": kind, "uid": uid, "name": "x", "controller": controller}


class TestNodePreferAvoidPods:
    def test_only_the_controller_counts_among_the_owners(self) -> None:
        """The first owner that is the controller; pods without one score 10."""
        text = annotation(entry())
        assert score(text) == 10
        assert score(text, owner(controller=False)) == 10
        assert score(text, owner(uid="first"), owner()) == 10
        assert score(text, owner(uid="first", controller=False), owner()) == 0

    @pytest.mark.parametrize("text", [None, "", "null", "{}", "[]", "not json", '"x"', '{"preferAvoidPods": 3}', "NaN", "[" * 100_000])
    def test_what_cannot_be_read_avoids_nobody(self, text: str | None) -> None:
        """A node without the annotation, or with one that is not what it should be, scores 10."""
        assert score(text, owner()) == 10


class TestTheAnnotation:
    def test_keys_are_read_regardless_of_case(self) -> None:
        """As Go's decoder does, the long s and the Kelvin sign included."""
        text = '{"PREFERAVOIDPODS": [{"pod\u017fignature": {"podcontroller": {"\u212aind": "ReplicaSet", "UID": "u"}}}]}'
        assert avoided_controllers(text) == {("ReplicaSet", "u")}

    @pytest.mark.parametrize(
        "broken",
        [
            entry(owner={"name": 5}), entry(owner={"controller": "true"}), entry(owner={"uid": 1}), entry(reason=[]), "text",
            entry(evictionTime="yesterday"), entry(evictionTime="2020-02-30T00:00:00Z"), entry(evictionTime=1), {"podSignature": []},
        ],
    )  # fmt: skip
    def test_one_field_of_a_wrong_type_spoils_all(self, broken: Any) -> None:
        """Then the entries that are right do not count either."""
        assert avoided_controllers(annotation(entry())) == {("ReplicaSet", "u")}
        assert avoided_controllers(annotation(entry(), broken)) == frozenset()

    def test_what_is_not_known_may_be_anything(self) -> None:
        """Unknown fields, nulls, and numbers of any length there do not matter."""
        more = entry(evictionTime="2020-02-29T00:00:00.5+01:00", reason=None, message="m", other={"x": [1]}, owner={"size": 10**5000 > 0})
        text = annotation(more)[:-1] + ', "x": ' + "9" * 5000 + "}"
        assert avoided_controllers(text) == {("ReplicaSet", "u")}

    def test_an_entry_without_controller_names_nobody(self) -> None:
        """The original stops altogether there; here the entry is ignored."""
        assert avoided_controllers(annotation({}, None, {"podSignature": None}, entry())) == {("ReplicaSet", "u")}
