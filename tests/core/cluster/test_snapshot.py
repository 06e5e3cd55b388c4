"""The snapshot: the table follows the cache when a cycle begins, and not before."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.feed import EventFeed
from tests.support.build import engine, node, pod
from tests.support.frameworkbuild import scheduler

KEEPS_LAST_NODE = [release for release in RELEASES if release not in ("1.12", "1.13")]


def content(made):
    """Name -> whether the row has a node object, and the names of its pods, as the table has them."""
    table = made.table
    return {name: (bool(table.has_node[row]), [entry.pod.name for entry in table.pods[row]]) for name, row in table.row_of.items()}


def refreshed(made):
    """The same once a cycle has begun."""
    made.snapshot.refresh()
    return content(made)


@pytest.mark.parametrize("release", RELEASES)
class TestEveryRelease:
    def test_the_table_follows_when_a_cycle_begins(self, release):
        """What is told in between waits."""
        made = engine(node("a"), pod("p", on="a"), release=release)
        assert content(made) == {}
        assert refreshed(made) == {"a": (True, ["p"])}

    def test_a_node_that_goes_without_pods_is_gone(self, release):
        """Its row is free for another node."""
        made = engine(node("a"), node("b"), release=release)
        refreshed(made)
        EventFeed(made).delete(node("a"))
        assert refreshed(made) == {"b": (True, [])}
        EventFeed(made).put(node("c"))
        assert refreshed(made) == {"b": (True, []), "c": (True, [])}
        assert made.table.size == 2

    def test_what_did_not_change_is_not_touched(self, release):
        """The log of changes names the rows of nodes and pods that were told of, and no others."""
        made = engine(node("a"), node("b"), release=release)
        refreshed(made)
        before = made.table.changed.revision
        refreshed(made)
        assert made.table.changed.revision == before
        EventFeed(made).put(pod("p", on="b"))
        refreshed(made)
        rows = made.table.changed.since(before)
        assert rows is not None
        assert [made.table.names[row] for row in rows] == ["b"]

    def test_each_update_of_a_node_counts(self, release):
        """What a node stated before its latest update is not lost if no cycle began in between."""
        made = engine(node("a"), node("b"), release=release)
        refreshed(made)
        EventFeed(made).put(node("a", conditions=[{"type": "DiskPressure", "status": "True"}]))
        EventFeed(made).put(node("a", labels={"x": "y"}))
        refreshed(made)
        row = made.table.row_of["a"]
        assert made.table.pressures.values[made.table.pressures.codes[row]] == ("", "True", "")
        assert made.table.labels["x"].values[made.table.labels["x"].codes[row]] == "y"


class TestRowsWithoutANode:
    @pytest.mark.parametrize("release", KEEPS_LAST_NODE)
    def test_a_node_that_comes_back_is_as_the_cache_has_it(self, release):
        """What was ignored in between is made up for."""
        made = engine(node("a"), pod("p", on="a"), pod("q", on="a"), release=release)
        refreshed(made)
        EventFeed(made).delete(node("a"))
        refreshed(made)
        EventFeed(made).delete(pod("p", on="a"))
        EventFeed(made).put(node("a", unschedulable=True))
        assert refreshed(made) == {"a": (True, ["q"])}
        assert made.table.unschedulable.values[made.table.unschedulable.codes[made.table.row_of["a"]]] is True


class TestTheFramework:
    """Release 1.27: a node that goes leaves at once, with all its pods."""

    def test_pods_leave_with_their_node(self):
        """The row goes, and comes back with what the cache has then."""
        made = scheduler(node("a"), node("b"), pod("p", on="a"))
        assert refreshed(made) == {"a": (True, ["p"]), "b": (True, [])}
        EventFeed(made).delete(node("a"))
        assert refreshed(made) == {"b": (True, [])}
        EventFeed(made).put(node("a"))
        assert refreshed(made) == {"a": (True, ["p"]), "b": (True, [])}

    def test_a_pod_that_was_there_first_and_left(self):
        """A pod that was told of before its node, and is gone when the node comes, is on no row."""
        made = scheduler(pod("p", on="a"))
        assert refreshed(made) == {}
        EventFeed(made).put(node("a"))
        EventFeed(made).delete(pod("p", on="a"))
        assert refreshed(made) == {"a": (True, [])}

    def test_the_set_of_nodes_has_a_version(self):
        """It moves when a row comes or goes, not when a pod does."""
        made = scheduler(node("a"), pod("p", on="a"))
        refreshed(made)
        before = made.snapshot.version
        EventFeed(made).put(pod("q", on="a"))
        refreshed(made)
        assert made.snapshot.version == before
        EventFeed(made).put(node("b"))
        refreshed(made)
        assert made.snapshot.version == before + 1
