"""The answers of ``explain``: verdicts on a pod and on a node, and the page of suggestions."""

from html import escape

import pytest

from kubeclassic.cli import run
from kubeclassic.questions.explain.view import verdict
from kubeclassic.simulation.explain.values import (
    CloseUp,
    ExplanationDocument,
    HostChoice,
    Lead,
    NodeCounts,
    ReasonGroup,
    RuleVerdict,
)
from tests.conftest import CLUSTER
from tests.support.pages import with_page
from tests.support.program import ran


def _choice(*ties, decided=None):
    """The choice of the host among *ties*."""
    return HostChoice(9, ties, "the first one", None, decided, (), {}, 10)


def _document(**values):
    """The record that a verdict reads for a pod that fits on 3 of 5 nodes."""
    empty = dict.fromkeys(ExplanationDocument.__struct_fields__) | {
        "warnings": (),
        "gated": False,
        "reasons": (),
    }
    asked = {
        "pod": "a/b",
        "host": "n1",
        "counts": NodeCounts(5, 5, 3, 2),
        "choice": _choice("n1", decided="NodeAffinityPriority"),
    }
    return ExplanationDocument(**empty | asked | values)


def _reason(reason, count):
    """A reason of *count* nodes."""
    return ReasonGroup(reason, (), count, 0, False, None, tuple(f"n{at}" for at in range(count)))


@pytest.mark.parametrize(
    "values, said",
    [
        ({}, "a/b goes to n1, the best of 3 nodes that fit, by NodeAffinity."),
        (
            {"choice": _choice("n1", "n2")},
            "a/b goes to n1: 2 of 3 nodes that fit share the best score, and the tie-break takes it.",
        ),
        (
            {"choice": _choice("n1", "n2", "n3")},
            "a/b goes to n1: all 3 nodes that fit have the same score, and the tie-break takes it.",
        ),
        (
            {"choice": None, "counts": NodeCounts(5, 5, 1, 4)},
            "a/b goes to n1, the only one of 5 nodes that fits.",
        ),
        (
            {"choice": None, "counts": NodeCounts(1, 1, 1, 0)},
            "a/b goes to n1, which is taken without scoring.",
        ),
        (
            {"placed_on": "n1"},
            "a/b, which is on n1, would stay there, the best of 3 nodes that fit, by NodeAffinity.",
        ),
        (
            {"placed_on": "n2"},
            "a/b, which is on n2, would go to n1, the best of 3 nodes that fit, by NodeAffinity.",
        ),
        ({"gated": True}, "a/b is gated and not tried."),
        ({"ignored": "it has finished"}, "a/b is not scheduled: it has finished."),
        ({"host": None, "error": "odd."}, "a/b finds no node: odd."),
        (
            {
                "host": None,
                "reasons": (
                    _reason("had taint x", 4),
                    _reason("Insufficient cpu", 1),
                    _reason("had taint y", 2),
                ),
            },
            "a/b finds no node: stopped by taints on 4 nodes, cpu on 1 node.",
        ),
    ],
)
def test_of_a_pod(values, said):
    """Where it goes, and what decided."""
    document = _document(**values)
    assert str(verdict(document)) == said


@pytest.mark.parametrize(
    "close, host, said",
    [
        ({"fits": True}, "n2", "a/b fits on n2, and goes there."),
        (
            {"fits": True, "leads": (Lead("X", 2, 1, 1), Lead("YPriority", 0, 9, 1))},
            "n1",
            "a/b fits on n2, but goes to n1, which scores better by Y.",
        ),
        (
            {"fits": True},
            "n1",
            "a/b fits on n2, but goes to n1: both score the same, and the tie-break takes that one.",
        ),
        (
            {"fits": True, "would_score": True},
            "n1",
            "a/b fits on n2, but goes to n1: the search had found enough nodes before it came here.",
        ),
        (
            {"fits": False, "verdicts": (RuleVerdict("X", "fails", ("odd",)),)},
            None,
            "a/b does not fit on n2: odd.",
        ),
    ],
)
def test_of_a_node(close, host, said):
    """Whether it fits there, and why it does not go there."""
    assert str(verdict(_document(host=host, close_up=CloseUp("n2", **close)))) == said


@pytest.mark.parametrize("asked", [("--what-if",), ("--want", "general-a1")])
def test_changes_that_help(asked, tmp_path, monkeypatch):
    """The page of --what-if and --want has why and what would help; its numbers are those of both
    records."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr("sys.argv", ["kubeclassic"])
    words = ["explain", CLUSTER, "analytics/yearly-report"]
    html, found = with_page(tmp_path, *words, *asked)
    assert html == ran(*words, *asked, "-o", "html").out
    helping = html[html.index('id="what-would-help"') :]
    for one in found["suggestions"]:
        assert escape(f"{one['change'][0].upper()}{one['change'][1:]}") in helping
        assert all(escape(text).replace("&#x27;", "&#39;") in helping for text in one["patch"])
    assert ("Reasons against nodes" if len(asked) == 1 else "Each rule on this node") in html
    assert f"{len(found['suggestions']) - 1} more change" in html
    assert all(
        escape(one["effect"]["withoutNode"][0]) in helping
        for one in found["suggestions"]
        if one["effect"]["withoutNode"]
    )


def test_nothing_has_to_change(tmp_path):
    """A pod that fits has no list of changes."""
    page = tmp_path / "page.html"
    assert run(["explain", CLUSTER, "shop/orders-1", "--what-if", "-o", "html", "--output", str(page)]) == 0
    html = page.read_text()
    assert "without any change" in html
    assert "what-would-help" not in html
