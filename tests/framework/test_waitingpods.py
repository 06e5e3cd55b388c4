"""One waiting pod: who ends its wait, when, and with which words."""

import pytest

from kubeclassic.framework.plugin import Handle
from kubeclassic.framework.status import Code
from kubeclassic.framework.waitingpods import WaitingPod, WaitingPods
from tests.support.build import pod


def waiting(**timeouts):
    """A pod that waits for plugins."""
    return WaitingPod(pod("p", on="a"), dict(timeouts))


class TestWords:
    def test_any_plugin_may_reject_it(self):
        """One rejection is enough, also of a plugin that did not ask for the wait."""
        one = waiting(A=10, B=20)
        one.reject("C", "no room for you")
        assert one.verdict is not None
        assert (one.verdict.code, one.verdict.message, one.verdict.plugin) == (
            Code.UNSCHEDULABLE,
            "no room for you",
            "C",
        )

    @pytest.mark.parametrize("first", ["allow", "reject"])
    def test_the_first_word_counts(self, first):
        """What is said after the end changes nothing."""
        one = waiting(A=10)
        ends = []
        one.on_end = lambda: ends.append(one.verdict)
        words = [lambda: one.allow("A"), lambda: one.reject("A", "no")]
        for word in words if first == "allow" else reversed(words):
            word()
        one.pass_time(1000)
        assert one.verdict is not None
        assert one.verdict.is_success == (first == "allow")
        assert ends == [one.verdict]


class TestTimeouts:
    def test_durations_are_written_as_go_writes_them(self):
        """The longest wait is told as 15m0s."""
        one = waiting(A=900)
        one.pass_time(900)
        assert one.verdict is not None
        assert one.verdict.message == "rejected due to timeout after waiting 15m0s at plugin A"


class TestHandle:
    def test_what_plugins_can_do(self):
        """Plugins find waiting pods by UID, list them, and reject those that are removed."""
        handle = Handle()
        one = waiting(A=10)
        handle.waiting_pods.add(one)
        assert handle.get_waiting_pod(one.pod.uid) is one
        assert list(handle.iterate_over_waiting_pods()) == [one]
        assert handle.reject_waiting_pod(one.pod.uid)
        assert one.verdict is not None
        assert one.verdict.message == "removed"
        assert not handle.reject_waiting_pod("unknown")
        assert handle.get_waiting_pod("unknown") is None

    def test_nothing_counts_in_an_unmoved_context(self):
        """What is said to pods while somebody only asks is forgotten."""
        pods = WaitingPods()
        one = waiting(A=10, B=20)
        pods.add(one)
        with pods.preserving_state():
            (other,) = pods
            assert (other.pending_plugins, other.timeout) == (("A", "B"), 10)
            other.reject("A", "no")
        assert list(pods) == [one]
        assert not one.is_over
