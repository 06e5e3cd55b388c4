"""The page of ``explain --release A,B``: each of its numbers is in ``-o json``; it has both decisions, causes and nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.pages import data_of_page, with_page
from tests.support.program import ran

CLUSTER = str(ROOT / "examples" / "cluster")


@pytest.mark.parametrize(
    ("pod", "releases", "status"),
    [("shop/orders-1", "1.28,1.29", 1), ("deploy/storefront", "1.16,1.17", 0), ("shop/orders-1", "1.33,1.34", 0)],
)
def test_the_list(pod: str, releases: str, status: int, tmp_path: Path) -> None:
    """The list of the page has the nodes that differ."""
    html, document = with_page(tmp_path, "explain", CLUSTER, pod, "--release", releases, status=status)
    for decision in document["decisions"]:
        assert f"{decision['release']} ({decision['like']})" in html
    if document["nodes"]:
        assert data_of_page(html)["nodes-data"]["count"] == len(document["nodes"])


def test_the_text() -> None:
    """Text has the sentence, the reason, both messages, the causes, and each node in both releases."""
    told = " ".join(ran("explain", CLUSTER, "shop/orders-1", "--release", "1.28,1.29", status=1).out.split())
    head = "shop/orders-1: <none> in 1.28, database-b1 in 1.29; 8 of 11 nodes differ. "
    why = "1.29: gate SidecarContainers is on: pods with sidecars are taken. "
    assert told.startswith(f"{head}{why}1.28 (1.28.14): 0 of 11 nodes fit: 0/11 nodes are available: ")
    assert " 1.29 (1.29.9): 3 of 11 nodes fit NODES WHAT RULE RELEASE BECAUSE 5 reasons NodeResourcesFit 1.29 gate" in told
    assert " database-a1 Pod has a restartable init container and the SidecarContainers feature is disabled fits, 647 " in told


def test_csv_has_the_nodes() -> None:
    """CSV has a line for each node that differs, with the facts."""
    head, first, *_ = ran("explain", CLUSTER, "shop/orders-1", "--release", "1.28,1.29", "-o", "csv", status=(0, 1)).out.splitlines()
    assert head == "node,1.28,1.29,rules,facts"
    assert first.startswith("database-b1,")
    assert first.endswith("sidecars-by-default")
