"""NodeAffinityPriority: weights of the preferred terms that match."""

import pytest

from kubeclassic.core.rule import PriorityError
from kubeclassic.priorities.nodeaffinity import node_affinity
from tests.support.build import engine, node, pod, scored
from tests.support.refusals import refusal_text

NODES = node("none"), node("one", labels={"a": "1"}), node("two", labels={"a": "2", "b": ""})


def expression(key, operator, *values):
    """One of matchExpressions."""
    return {"key": key, "operator": operator, "values": list(values)}


def term(weight, *expressions, **more):
    """A preferred term."""
    return {"weight": weight, "preference": {"matchExpressions": list(expressions), **more}}


def preferring(*terms):
    """A pod with these preferences."""
    return pod(
        "p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": list(terms)}}
    )


def raw(*terms):
    """The sums of weights on the three nodes."""
    return [*scored(node_affinity, preferring(*terms), *NODES, reduced=False).values()]


class TestNodeAffinity:
    @pytest.mark.parametrize(
        ("bad", "text"),
        [
            (expression("a", "Is", "1"), '"Is" is not a valid node selector operator'),
            (expression("a", "Exists", "1"), "values set must be empty for exists and does not exist"),
        ],
    )
    def test_an_invalid_expression_is_an_error(self, bad, text):
        """The priority fails with upstream's text, though other terms are valid."""
        assert refusal_text(PriorityError, raw, term(1, expression("a", "Exists")), term(1, bad)) == text

    @pytest.mark.parametrize(
        ("release", "named"), [("1.12", False), ("1.14", False), ("1.15", True), ("1.16", True)]
    )
    def test_from_1_15_on_the_text_names_the_key(self, release, named):
        """A bad value is reported with the key that it is for."""
        text = refusal_text(
            PriorityError,
            scored,
            node_affinity,
            preferring(term(1, expression("a", "In", "!"))),
            *NODES,
            release=release,
        )
        assert text.startswith('invalid label value: "!": ' + ('at key: "a": ' if named else "a valid label"))

    def test_the_sum_has_32_bits(self):
        """Two weights of 2^30 and one more wrap to the other end."""
        assert raw(*[term(2**30, expression("a", "Exists"))] * 2) == [0, -(2**31), -(2**31)]

    def test_pods_that_prefer_the_same_share_scores(self):
        """The key sees weights and expressions, not fields or labels."""
        begin = engine(node("n")).begin
        preferences = [
            term(1, expression("a", "Exists"), matchFields=[expression("metadata.name", "In", name)])
            for name in "xy"
        ]
        keys = {node_affinity.key(begin(preferring(each)).template) for each in preferences}
        assert len(keys) == 1
        assert node_affinity.key(begin(preferring(term(2, expression("a", "Exists")))).template) not in keys
