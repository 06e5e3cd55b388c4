"""The snapshot: the table follows the cache when a cycle begins, and not before."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.feed import EventFeed
from tests.support.build import engine, node, pod
from tests.support.frameworkbuild import scheduler


def content(made):
    """Name -> whether the row has a node object, and the names of its pods, as the table has them."""
    table = made.table
    return {
        name: (bool(table.has_node[row]), [entry.pod.name for entry in table.pods[row]])
        for name, row in table.row_of.items()
    }


def refreshed(made):
    """The same once a cycle has begun."""
    made.snapshot.refresh()
    return content(made)


@pytest.mark.parametrize("release", RELEASES)
class TestEveryRelease:
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


class TestTheFramework:
    """Release 1.27: a node that goes leaves at once, with all its pods."""

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
