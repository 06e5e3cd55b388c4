"""In which order waiting pods are tried."""

from __future__ import annotations

import pytest

from kubeclassic.algorithmprovider import RELEASES, resolve
from kubeclassic.simulation.order import in_order
from tests.build import pod

PODS = [pod(name, priority=priority) for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", 0))]


def names(order: str, release: str, **gates: bool) -> str:
    """The names of :data:`PODS` in an order of a release."""
    return "".join(item.name for item in in_order(PODS, order, resolve(RELEASES[release], gates=gates)))


@pytest.mark.parametrize("release", RELEASES)
class TestAnyRelease:
    def test_input(self, release: str) -> None:
        """As they came."""
        assert names("input", release) == "abcde"

    def test_priority(self, release: str) -> None:
        """The higher priority first, equal ones as they came."""
        assert names("priority", release) == "bdace"


class TestQueue:
    @pytest.mark.parametrize("release", ["1.14", "1.15", "1.16"])
    def test_by_time(self, release: str) -> None:
        """Equal priorities come out by the time at which they entered the queue."""
        assert names("queue", release) == "bdace"

    @pytest.mark.parametrize("release", ["1.12", "1.13"])
    def test_equal_priorities_are_not_first_in_first_out(self, release: str) -> None:
        """# Upstream: pods of equal priority come out as a binary heap holds them: first, last, ..., second."""
        equal = [pod(name) for name in "12345"]
        popped = in_order(equal, "queue", resolve(RELEASES[release]))
        assert "".join(item.name for item in popped) == "15432"

    @pytest.mark.parametrize("release", ["1.12", "1.13", "1.14"])
    def test_without_pod_priority(self, release: str) -> None:
        """With gate PodPriority off the queue is first in, first out."""
        assert names("queue", release, PodPriority=False) == "abcde"
