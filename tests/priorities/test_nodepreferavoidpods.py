"""NodePreferAvoidPodsPriority: nodes that want to be left alone by a controller's pods."""

import json

import pytest

from kubeclassic.priorities.nodepreferavoidpods import avoided_controllers


def entry(kind="ReplicaSet", uid="u", **more):
    """One entry of the annotation."""
    return {"podSignature": {"podController": {"kind": kind, "uid": uid, **more.pop("owner", {})}}, **more}


def annotation(*entries):
    """The whole annotation."""
    return json.dumps({"preferAvoidPods": list(entries)})


def owner(kind="ReplicaSet", uid="u", controller=True):
    """An owner reference."""
    return {"kind": kind, "uid": uid, "name": "x", "controller": controller}


class TestTheAnnotation:
    def test_keys_are_read_regardless_of_case(self):
        """As Go's decoder does, the long s and the Kelvin sign included."""
        text = '{"PREFERAVOIDPODS": [{"pod\u017fignature": {"podcontroller": {"\u212aind": "ReplicaSet", "UID": "u"}}}]}'
        assert avoided_controllers(text) == {("ReplicaSet", "u")}

    @pytest.mark.parametrize(
        "broken",
        [
            entry(owner={"name": 5}),
            entry(owner={"controller": "true"}),
            entry(owner={"uid": 1}),
            entry(reason=[]),
            "text",
            entry(evictionTime="yesterday"),
            entry(evictionTime="2020-02-30T00:00:00Z"),
            entry(evictionTime=1),
            {"podSignature": []},
        ],
    )
    def test_one_field_of_a_wrong_type_spoils_all(self, broken):
        """Then the entries that are right do not count either."""
        assert avoided_controllers(annotation(entry())) == {("ReplicaSet", "u")}
        assert avoided_controllers(annotation(entry(), broken)) == frozenset()

    def test_what_is_not_known_may_be_anything(self):
        """Unknown fields, nulls, and numbers of any length there do not matter."""
        more = entry(
            evictionTime="2020-02-29T00:00:00.5+01:00",
            reason=None,
            message="m",
            other={"x": [1]},
            owner={"size": 10**5000 > 0},
        )
        text = annotation(more)[:-1] + ', "x": ' + "9" * 5000 + "}"
        assert avoided_controllers(text) == {("ReplicaSet", "u")}

    def test_an_entry_without_controller_names_nobody(self):
        """The original stops altogether there; here the entry is ignored."""
        assert avoided_controllers(annotation({}, None, {"podSignature": None}, entry())) == {
            ("ReplicaSet", "u")
        }
