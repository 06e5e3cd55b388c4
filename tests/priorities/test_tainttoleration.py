"""TaintTolerationPriority: the fewer taints to put up with the better."""

from kubeclassic.priorities.tainttoleration import taint_toleration
from tests.support.build import engine, node, pod


def taint(key, effect="PreferNoSchedule"):
    """A taint."""
    return {"key": key, "effect": effect}


class TestTaintToleration:
    def test_the_key_leaves_out_other_effects(self):
        """Pods that differ in tolerations for NoSchedule share scores."""
        begin = engine(node("n")).begin
        lists = [[], [{"key": "x", "effect": "NoSchedule"}], [{"key": "x"}]]
        keys = [taint_toleration.key(begin(pod("p", tolerations=each)).template) for each in lists]
        assert keys[0] == keys[1] != keys[2]
