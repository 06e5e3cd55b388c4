"""Readers that give equal values the same object."""

from __future__ import annotations

from typing import Any

from kubeclassic.api.objects import Pod
from kubeclassic.api.reading import fields
from kubeclassic.api.reading.decode import decode


def pod(node: str, image: str = "a") -> Pod:
    """A pod on *node*, read from JSON."""
    document = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": image}]}}
    found = decode(document)
    assert isinstance(found, Pod)
    return found


def test_specs_differ_in_the_node_alone() -> None:
    """Pods of one owner share what is in their specs, and each has its node."""
    one, other, third = pod("n1"), pod("n2"), pod("n2", image="b")
    assert [found.spec.node_name for found in (one, other, third, pod(""))] == ["n1", "n2", "n2", ""]
    assert one.spec.containers is other.spec.containers
    assert [found.spec.containers[0].image for found in (one, other, third)] == ["a", "a", "b"]


def test_values_that_never_come_again_are_not_looked_for() -> None:
    """After many values that are all different a reader that remembers pauses; then it begins again."""
    remembered: Any = fields.remembered(lambda value: [value])
    for number in range(fields._CREDIT + 1):
        remembered(number)
    assert remembered("x") is not remembered("x")
    for _ in range(fields._PAUSE):
        remembered("x")
    assert remembered("x") is remembered("x")
