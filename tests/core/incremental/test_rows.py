"""Row scores: shared by templates, partly foreseen, and always what the rules would say now."""

import pytest

from kubeclassic.core.incremental.rows import MISSES_TO_LOOK
from kubeclassic.core.run import EventFeed
from tests.support.build import engine, node, pod

RELEASES = ("1.12", "1.16")


def small(name, **labels):
    """A pod that requests some cpu."""
    return pod(name, requests={"cpu": "100m", "memory": "64Mi"}, labels=labels)


def large_cluster(release="1.16"):
    """Forty nodes in two zones."""
    return engine(
        *[node(f"n{number:02}", cpu="2", labels={"zone": f"z{number % 2}"}) for number in range(40)],
        release=release,
    )


def row_scores(made, incoming):
    """The row scores of *incoming*, as its last cycle left them."""
    return made.flow.quick_path.boards.of(made.begin(incoming, details=False)).near


def place(made, incoming):
    """Schedule *incoming* without details, and assume it."""
    host = made.schedule(incoming, details=False).host
    assert host is not None
    made.assume(incoming, host)
    return host


# --- Sharing ------------------------------------------------------------------------------------------------


def test_templates_that_differ_in_labels_alone_share_them():
    """Templates that differ only in labels, which row-wise rules do not read, share their results."""
    made = large_cluster()
    place(made, small("a", app="a"))
    place(made, small("b", app="b"))
    assert row_scores(made, small("a", app="a")) is row_scores(made, small("b", app="b"))


def test_templates_that_differ_in_node_selectors_alone_share_them():
    """The nodes that a pod selects are cached apart from them: the parts of GeneralPredicates are asked one
    by one."""
    made = large_cluster()
    here = pod("b", requests={"cpu": "100m", "memory": "64Mi"}, nodeSelector={"zone": "z1"})
    place(made, small("a"))
    assert place(made, here) in {f"n{number:02}" for number in range(1, 40, 2)}
    assert row_scores(made, small("a")) is row_scores(made, here)


@pytest.mark.parametrize("release", RELEASES)
def test_equal_pods_are_foreseen(release):
    """After a few pods of one size the next ones need not be judged."""
    made = large_cluster(release)
    for number in range(MISSES_TO_LOOK + 12):
        place(made, small(f"p{number}"))
    assert row_scores(made, small("p")).ahead.hits > 0


def test_it_is_worked_out_again_when_a_node_changes():
    """Results from node objects alone are cached until a node changes, not until a pod is added."""
    made = large_cluster()
    asked = []
    made.snapshot.refresh()

    def ask():
        return made.table.node_derived("question", lambda: asked.append(len(asked)) or "answer")

    assert ask() == ask() == "answer"
    place(made, small("a"))
    made.snapshot.refresh()
    ask()
    assert len(asked) == 1
    EventFeed(made).put(node("another"))
    made.snapshot.refresh()
    ask()
    assert len(asked) == 2
