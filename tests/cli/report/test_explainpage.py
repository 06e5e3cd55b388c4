"""The page of ``explain``: each of its numbers is in ``-o json``; verdicts, reasons, the matrix, the close-up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.cli import run
from kubeclassic.cli.report.explain.verdicts import close_verdict, verdict
from tests.conftest import ROOT
from tests.support.pages import assert_told, data_of_page, numbers_of_page, table_of_page
from tests.support.schemas import faults

CLUSTER = str(ROOT / "examples" / "cluster")
CASES = {
    "nowhere": (["analytics/yearly-report"], 1),
    "scored": (["shop/storefront-bj5tsk7t55-3"], 0),
    "tie": (["shop/orders-1"], 0),
    "workload": (["deploy/storefront", "-n", "shop", "--release", "1.27"], 0),
    "one fits": (["analytics/nightly-report-0"], 0),
    "close": (["shop/orders-1", "--node", "general-a1"], 1),
    "close fits": (["shop/storefront-bj5tsk7t55-3", "--node", "general-c1", "--release", "1.27"], 0),
    "close host": (["shop/orders-1", "--node", "database-c1"], 0),
}
"""Arguments -> exit status."""
Pair = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module", params=CASES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A page, and what ``-o json`` says; the page is written beside it."""
    arguments, status = CASES[request.param]
    folder = tmp_path_factory.mktemp("explain")
    report, record = folder / "page.html", folder / "record.json"
    assert run(["explain", CLUSTER, *arguments, "-o", "json", "--output", str(record), "--report", str(report)]) == status
    return report.read_text(encoding="utf-8"), json.loads(record.read_text(encoding="utf-8"))


def _text(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


class TestPage:
    def test_every_number_is_in_the_record(self, pair: Pair) -> None:
        """Verdict, facts, leads, reasons, room, scores and totals say what the record says, which its schema describes."""
        html, record = pair
        assert faults("explain", record) == []
        assert_told(html, record)
        told = {mark.path for mark in numbers_of_page(html)}
        if record["closeUp"] is None:
            assert {"counts.fit", "counts.turnedDown"} <= told
            assert {f"reasons.{at}.count" for at in range(len(record["reasons"]))} <= told
        else:
            assert {f"closeUp.room.{at}.free" for at in range(len(record["closeUp"]["room"]))} <= told

    def test_the_list_of_nodes(self, pair: Pair) -> None:
        """Every node is listed and on the map, with its total, its reasons and the rules that turned it down."""
        html, record = pair
        if record["closeUp"] is not None:
            return
        by = "plugins" if record["release"] == "1.27" else "predicates"
        rows = table_of_page(html, "nodes")
        assert [(row["node"], row["total"], row["turned down by"]) for row in rows] == [
            (node["node"], node["total"], node[by]) for node in record["nodes"]
        ]
        assert [row["node"] for row in rows if row["state"] == "chosen"] == ([record["host"]] if record["host"] else [])
        assert sum(row["state"] == "turned down" for row in rows) == sum(not node["fits"] for node in record["nodes"])
        assert sorted(data_of_page(html)["map-data"]["nodes"]) == sorted(row["node"] for row in rows)

    def test_the_matrix(self, pair: Pair) -> None:
        """Each rule that the pod concerns is a column; lines stand for all nodes, and a cross for each rule that turned one down."""
        html, record = pair
        if record["closeUp"] is not None:
            return
        table = html.partition('id="matrix"')[2].partition("</table>")[0]
        columns = re.findall(r'<th scope="col" class="rule[^"]*"><span>([^<]*)', table)
        assert columns == [rule["rule"] for rule in record["rules"] if rule["concerned"]]
        lines = table.partition("<tbody>")[2].split("</tr>")[:-1]
        others = [int(count.replace(",", "")) for count in re.findall(r'and <span class="derived">([\d,]+)', table)]
        assert len(lines) + sum(others) == len(record["nodes"])
        crossed = {rule for line in lines for rule in re.findall(r'title="([^":]*): (?!passed|not asked)', line) if rule in columns}
        assert crossed == {one["rule"] for node in record["nodes"] for one in node["objections"] if one["counted"] and node["visited"]}
        assert ("winner" in lines[0]) is (record["host"] is not None)

    def test_the_verdict_names_the_outcome(self, pair: Pair) -> None:
        """The first sentence says where the pod goes, or whether it fits on the node that was asked for."""
        html, record = pair
        said = _text(html.partition("<h1")[2].partition("</h1>")[0])
        close = record["closeUp"]
        assert record["pod"] in said
        assert (record["host"] or "finds no node") in said
        assert close is None or f"fit{'s' if close['fits'] else ''} on {close['node']}" in said


def _record(**values: Any) -> dict[str, Any]:
    """What a verdict reads of a pod that fits on 3 of 5 nodes."""
    counts = {"nodes": 5, "visited": 5, "fit": 3, "turnedDown": 2}
    asked = {"pod": "a/b", "host": "n1", "error": None, "passedOver": None, "gated": False, "placedOn": None, "reasons": []}
    return {**asked, "counts": counts, "choice": {"ties": ["n1"], "decided": "NodeAffinityPriority"}, **values}


class TestVerdict:
    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({}, "a/b goes to n1, the best of 3 nodes that fit, by NodeAffinity."),
            ({"choice": {"ties": ["n1", "n2"], "decided": None}}, "a/b goes to n1: 2 of 3 nodes that fit share the best score, and the"
             " tie-break takes it."),
            ({"choice": {"ties": ["n1", "n2", "n3"], "decided": None}}, "a/b goes to n1: all 3 nodes that fit have the same score, and the"
             " tie-break takes it."),
            ({"choice": None, "counts": {"visited": 5, "fit": 1}}, "a/b goes to n1, the only one of 5 nodes that fits."),
            ({"choice": None, "counts": {"visited": 1, "fit": 1}}, "a/b goes to n1, which is taken without scoring."),
            ({"placedOn": "n1"}, "a/b, which is on n1, would stay there, the best of 3 nodes that fit, by NodeAffinity."),
            ({"placedOn": "n2"}, "a/b, which is on n2, would go to n1, the best of 3 nodes that fit, by NodeAffinity."),
            ({"gated": True}, "a/b is held back and not tried."),
            ({"passedOver": "it has finished"}, "a/b is not scheduled: it has finished."),
            ({"host": None, "error": "odd."}, "a/b finds no node: odd."),
            ({"host": None, "reasons": [{"reason": "Insufficient cpu", "count": 1}, {"reason": "had taint x", "count": 4}]},
             "a/b finds no node: stopped by taints on 4 nodes, cpu on 1 node."),
        ],
    )  # fmt: skip
    def test_of_a_pod(self, values: dict[str, Any], said: str) -> None:
        """Where it goes, and what decided."""
        record = _record(**values)
        assert _text(verdict(record)) == said
        assert_told(f'<h1 class="verdict">{verdict(record)}</h1>', record)

    @pytest.mark.parametrize(
        ("close", "host", "said"),
        [
            ({"fits": True}, "n2", "a/b fits on n2, and goes there."),
            ({"fits": True, "leads": [{"rule": "X", "ahead": 1}, {"rule": "YPriority", "ahead": -9}]}, "n1",
             "a/b fits on n2, but goes to n1, which scores better by Y."),
            ({"fits": True, "leads": []}, "n1", "a/b fits on n2, but goes to n1: both score the same, and the tie-break takes that one."),
            ({"fits": True, "wouldScore": True}, "n1",
             "a/b fits on n2, but goes to n1: the search had found enough nodes before it came here."),
            ({"fits": False, "verdicts": [{"outcome": "fails", "reasons": ["odd"]}]}, None, "a/b does not fit on n2: odd."),
        ],
    )  # fmt: skip
    def test_of_a_node(self, close: dict[str, Any], host: str | None, said: str) -> None:
        """Whether it fits there, and why it does not go there."""
        found = {"node": "n2", "wouldScore": False, "wholePod": [], "verdicts": [], "leads": []} | close
        assert _text(close_verdict(_record(host=host, closeUp=found))) == said


class TestForms:
    def test_html_is_the_report(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """-o html and --report write the same page."""
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
        monkeypatch.setattr("sys.argv", ["kubeclassic"])
        files = [tmp_path / "a.html", tmp_path / "b.html"]
        run(["explain", CLUSTER, "shop/orders-1", "-o", "html", "--output", str(files[0])])
        run(["explain", CLUSTER, "shop/orders-1", "-o", "csv", "--output", str(tmp_path / "out"), "--report", str(files[1])])
        assert files[0].read_bytes() == files[1].read_bytes()

    @pytest.mark.parametrize("given", [["-o", "html"], ["--report", "page.html"]])
    def test_changes_that_help_have_no_page(self, given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """--what-if with a page is refused in one line."""
        assert run(["explain", CLUSTER, "shop/orders-1", "--what-if", *given]) == 2
        assert "--what-if" in capsys.readouterr().err
