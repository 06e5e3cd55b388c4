"""The pictures of pages: the map of nodes, matrices and charts; their numbers are in the HTML before any script runs."""

from __future__ import annotations

import re
from html import escape

import attrs
import pytest

from kubeclassic.cli.report.page import charts
from kubeclassic.cli.report.page.charts import HOW_TO, MOST_ROWS, TEXT, Chart, ChartSeries
from kubeclassic.cli.report.page.clustermap import FEW, SHOWN, ClusterMap, MapSide, UseScale
from kubeclassic.cli.report.page.matrix import FAILED, MOST, NOT_ASKED, PASSED, Matrix, MatrixLine, RuleScore
from kubeclassic.cli.report.questions.nodemap import labels_of, share_of
from kubeclassic.simulation.nodesbyuse import NodeUse, PodPlaces, ResourceUse
from tests.support.pages import data_of_page

ZONE = "topology.kubernetes.io/zone"
SIDES = (
    MapSide("before", {"cpu": [0.0, 0.55, None]}, [["a"], ["a", "b"], []]),
    MapSide("after", {"cpu": [0.1, 0.2, 1.5]}, [["c"], ["ns/a", "b"], []], states=["", "", "gone"]),
)
LABELS = {ZONE: ["z1", "z1", ""], "pool": ["x", "y", "x"]}
MAP = ClusterMap("map", ["n1", "n2", "n3"], SIDES, LABELS, colours={"gone": "red"})
WITHOUT_PODS = ClusterMap("map", ["n1", "n2", "n3"], [MapSide(side.title, side.uses) for side in SIDES], LABELS)


class TestMap:
    def test_squares(self) -> None:
        """Each side has a square for each node, by zone, in the colour of its use; a node without the resource has none."""
        html = WITHOUT_PODS.html()
        before, after = html.split('class="side"')[1:]
        assert re.findall(r"<figcaption>([^<]*)</figcaption>", before) == ["no zone: 1 node", "z1: 2 nodes"]
        assert [re.findall(r'<path class="(\w+)"', side) for side in (before, after)] == [["none", "u0", "u10"], ["u11", "u1", "u3"]]
        assert html.count("h9v9h-9z") == 6

    def test_squares_are_in_order_of_use(self) -> None:
        """Those in use the most come first in their zone, as they are in the end."""
        count = FEW + 1
        uses = [at / count for at in range(count)]
        found = ClusterMap("map", [f"n{at}" for at in range(count)], [MapSide("", {"cpu": uses}, [["p"]] * count)])
        html = found.html()
        assert not found.is_tiled
        assert html.index('class="u10" d="M0 0h9') > 0
        assert 'class="tile"' not in html

    def test_colours_go_over_what_occurs(self) -> None:
        """Ten colours go from the lowest to the highest share that occurs; nothing and too much have one each."""
        scale = UseScale.of([0.21, 0.97, 0.5])
        assert (scale.low, scale.high) == (20, 100)
        assert [scale.level(share) for share in (None, 0.0, 0.21, 0.281, 0.6, 0.97, 1.0, 1.001)] == [None, 0, 1, 2, 5, 10, 10, 11]
        legend = scale.html()
        assert "20 %" in legend
        assert "nothing" not in legend
        assert "over 100 %" not in legend
        assert "over 100 %" in UseScale.of([0.5, 1.2]).html()

    def test_tiles(self) -> None:
        """Few nodes are tiles with their pods by name; those that came are marked, and those that left still stand there."""
        html = MAP.html()
        before, after = html.split('class="side"')[1:]
        marked = r'<li class="(\w+)"><span class="name"[^>]*>(\w+)<'
        assert re.findall(marked, before) == [("stayed", "a"), ("stayed", "a"), ("stayed", "b")]
        assert re.findall(marked, after) == [("came", "c"), ("left", "a"), ("came", "a"), ("left", "a"), ("stayed", "b")]
        assert ">gone</span>" in after
        assert ("pod came" in after, "pod left" in after) == (True, True)
        assert 'title="ns/a"' in after

    def test_what_follows_is_drawn_once(self) -> None:
        """Of before and after tiles show what became of it alone, squares both."""
        assert ClusterMap("map", ["n1", "n2", "n3"], SIDES, follows=True).html().count('class="side"') == 1
        assert ClusterMap("map", ["n1", "n2", "n3"], WITHOUT_PODS.sides, follows=True).html().count('class="side"') == 2

    def test_pods_that_are_not_told(self) -> None:
        """A side whose pods are not known says nothing of them, and the next one is compared with the last that is."""
        sides = [SIDES[0], MapSide("between", {"cpu": [0.9, 0.9, 0.9]}), SIDES[1]]
        _, between, after = ClusterMap("map", ["n1", "n2", "n3"], sides, follows=True).html().split('class="side"')[1:]
        assert "<ol" not in between
        assert after.count('<li class="left"') == 2

    def test_many_pods_in_a_tile(self) -> None:
        """A tile names the first pods, and counts the others."""
        html = ClusterMap("m", ["a"], [MapSide("", {}, [[f"p{at}" for at in range(SHOWN + 3)]])]).html()
        assert html.count('class="stayed"') == SHOWN
        assert "+ 3 more" in html
        assert "pod came" not in html

    def test_data(self) -> None:
        """The script gets shares in thousandths, labels, pods by number, and states with their colours."""
        data = data_of_page(MAP.html())["map-data"]
        assert data["sides"][0]["uses"] == {"cpu": [0, 550, -1]}
        assert [[data["names"][pod] for pod in pods] for pods in data["sides"][0]["pods"]] == [["a"], ["a", "b"], []]
        assert data["groupBy"] == ZONE
        assert [data["labels"]["pool"]["texts"][at] for at in data["labels"]["pool"]["values"]] == ["x", "y", "x"]
        assert (data["sides"][1]["states"], data["colours"]) == (["", "", "gone"], {"gone": "red"})

    def test_without_zones(self) -> None:
        """Nodes without zones are one group."""
        assert re.findall(r"<figcaption>([^<]*)<", ClusterMap("m", ["a", "b"], [MapSide("", {})]).html()) == ["all: 2 nodes"]


class TestMatrix:
    LINES = (
        MatrixLine(
            node="n1", passed=frozenset("AB"), scores=[RuleScore("S", 7, 1), RuleScore("T", 5, 2)], total=17, winner=True
        ),
        MatrixLine(node="n2", passed=frozenset("A"), failed={"B": "no room"}),
        MatrixLine(node="n3", state="not visited"),
    )

    def test_cells(self) -> None:
        """A cell says passed, turned down with the reason, or not asked; the winner and what decides are marked."""
        html = Matrix("m", "AB", self.LINES, deciding="T").html()
        cells = re.findall(r'<span class="out">([^<]*)</span>', html)
        assert cells == [PASSED, PASSED, PASSED, FAILED, NOT_ASKED, NOT_ASKED]
        assert "B: no room" in html
        assert html.count("chosen") == 1
        assert re.search(r"T <span[^>]*>decides</span>", html)
        assert "not visited" in html

    def test_scores_are_stacked(self) -> None:
        """A bar has a piece for each rule, as long as its points, and says the formula; the total stands beside it."""
        html = Matrix("m", "AB", self.LINES).html()
        assert '<td class="n">17</td>' in html
        assert [float(width) for width in re.findall(r"width:([\d.]+)%", html)] == [41.18, 58.82]
        assert "T 5 x 2 = 10" in html

    def test_many_lines(self) -> None:
        """Of very many lines the first ones are shown, and how many are left."""
        html = Matrix("m", "A", [MatrixLine(node=f"n{at}") for at in range(MOST + 3)]).html()
        assert html.count("<tr") == MOST + 1
        assert "3 more lines are not shown" in html


CHART = Chart(
    title="use", description="how full nodes are", labels=["0 %", "10 %", "20 %"], across="in use", up="nodes",
    series=[ChartSeries("a", [1511, 2, 3]), ChartSeries("b", [1500, 2, None], 1)],
)  # fmt: skip


class TestChart:
    def test_numbers(self) -> None:
        """All values stand in a table."""
        assert re.findall(r">([\d,]+|-)</div>", CHART.html()) == ["1,511", "1,500", "2", "2", "3", "-"]

    def test_the_picture(self) -> None:
        """It takes colours and fonts from the page, says what it is, has text of 12 pixels or more, and no id twice."""
        html = CHART.html()
        svg = html[html.index("<svg") : html.index("</svg>")]
        assert "var(--c0)" in svg
        assert "var(--c1)" in svg
        assert not re.search(r"(?<!url\()#[0-9a-f]{6}|font-family", svg)
        assert 'aria-label="use: how full nodes are"' in svg
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)]
        assert sizes
        assert min(sizes) == TEXT >= 12
        assert svg.count("<text") == len(sizes)
        ids = re.findall(r' id="([^"]*)"', svg)
        assert len(ids) == len(set(ids))
        other = Chart(title="other", description="d", labels=[1], across="a", up="u", series=[ChartSeries("a", [1])]).html()
        assert not {*ids} & {*re.findall(r' id="([^"]*)"', other)}

    def test_columns_are_as_high_as_their_numbers(self) -> None:
        """No axis is a logarithm, and few columns have their numbers above them, so that low ones are read beside high ones."""
        svg = CHART.html()
        boxes = [list(map(float, found)) for found in re.findall(r'd="M ([\d.]+) ([\d.]+) L ([\d.]+) [\d.]+ L [\d.]+ ([\d.]+) ', svg)]
        first, second, *_ = (foot - top for left, foot, right, top in boxes if right - left < 60)
        assert first / second == pytest.approx(1511 / 2, rel=0.01)
        assert ">1,511</text>" in svg

    @pytest.mark.parametrize("missing", ["across", "up"])
    def test_axes_say_what_they_are(self, missing: str) -> None:
        """There is no chart without a word on each axis."""
        with pytest.raises(ValueError, match=missing):
            Chart(**{"title": "t", "description": "d", "across": "a", "up": "u", missing: ""})

    def test_many_numbers(self) -> None:
        """Of a long line there are some numbers in even steps, the first and the last among them, and a word on the others."""
        values = list(range(3 * MOST_ROWS))
        shape = {"labels": values, "across": "a", "up": "u"}
        html = Chart(title="t", description="d", kind="steps", series=[ChartSeries("", values)], **shape).html()
        assert (html.count("<tr>") - 1, f">{values[-1]}</div>" in html) == (MOST_ROWS, True)
        assert f"{MOST_ROWS} of {len(values)}, in even steps" in html

    def test_same_bytes(self) -> None:
        """The same chart is drawn in the same bytes."""
        assert CHART.html() == CHART.html()

    @pytest.mark.parametrize("kind", ["lines", "steps"])
    def test_lines(self, kind: str) -> None:
        """Lines go over numbers; the axis of shares is in percent."""
        over = {"labels": [0, 5, 9], "series": [ChartSeries("", [0.1, None, 0.5])], "across": "s", "up": "share"}
        html = Chart(title="t", description="d", kind=kind, percent=True, wide=True, **over).html()
        assert "%</text>" in html
        assert 'viewBox="0 0 440 220"' in html

    def test_without_matplotlib(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where matplotlib is not installed the numbers stand open, with a line on how to get the picture."""
        monkeypatch.setattr(charts, "find_spec", lambda name: None)
        html = CHART.html()
        assert escape(HOW_TO) in html
        assert "<svg" not in html
        assert "<details" not in html


def test_labels_that_group_nodes() -> None:
    """A label that all nodes share, or that each has for itself, is no choice; zones always are."""
    nodes = [NodeUse(f"n{at}", {"same": "x", "own": f"{at}", "half": f"{at % 2}"}, PodPlaces(1, 0, 0), {}) for at in range(50)]
    assert list(labels_of(nodes)) == ["half"]
    assert list(labels_of([attrs.evolve(node, labels={ZONE: "z"}) for node in nodes])) == [ZONE]


def test_shares_of_nodes() -> None:
    """What a node lacks has no share; places for pods are as other resources."""
    node = NodeUse("a", {}, PodPlaces(10, 1, 2), {"cpu": ResourceUse.of("cpu", 1000, 100, 500), "gpu": ResourceUse.of("gpu", 0, 0, 0)})
    assert [share_of(node, name) for name in ("cpu", "pods", "gpu", "memory")] == [0.5, 0.2, None, None]
    assert [share_of(node, name, before=True) for name in ("cpu", "pods")] == [0.1, 0.1]
