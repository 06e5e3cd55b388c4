"""The page that shows every part of pages with its rule: made of the parts themselves, so that it cannot say what they do not do."""

from __future__ import annotations

from collections.abc import Iterator

from kubeclassic.api.meaning.labels import ZONES
from kubeclassic.api.view import CHANGES, MEANINGS, Column, Table
from kubeclassic.cli.report.page.about import About
from kubeclassic.cli.report.page.charts import Chart, ChartSeries
from kubeclassic.cli.report.page.clustermap import FEW, ClusterMap, MapSide
from kubeclassic.cli.report.page.document import Page, page_html
from kubeclassic.cli.report.page.markup import Markup, Text, code, element, joined, named, sentence
from kubeclassic.cli.report.page.matrix import Matrix, MatrixLine, RuleScore
from kubeclassic.cli.report.page.outcome import NAMED, PodOutcome, next_step, who_html
from kubeclassic.cli.report.page.parts import (
    BAD,
    GOOD,
    SAME,
    Section,
    StackItem,
    card,
    dot,
    fact,
    facts,
    folded,
    grid,
    note,
    plain_table,
    section,
    stack,
    tag,
    track,
)
from kubeclassic.cli.report.page.tables import list_html

PATH = "guides/parts.html"
SPACES, SIZES = [f"--s{at}" for at in range(1, 7)], [f"--t{at}" for at in range(1, 8)]
COLOURS = {
    "good": "fine", "same": "nothing new", "near": "worth a look", "bad": "worse", "held": "not tried",
}  # fmt: skip
"""Meaning -> in words."""


def page() -> str:
    """The page."""
    about = About(inputs=("cluster/",), releases=("1.27",), command=("kubeclassic", "simulate", "cluster/"))
    who = who_html("Who loses, by name", [PodOutcome(f"shop/{change}-0", change, "why, in a few words") for change in CHANGES])
    steps = [next_step("What to do is a sentence, with the command that does it:", ("kubeclassic", "explain", "cluster/", "shop/web-0"))]
    lead = facts(fact("9", "what the number counts", GOOD), fact("1", "what is worse", BAD), fact("4", "nodes"))
    verdict = "The verdict is one sentence: the outcome, and for what"
    return page_html(Page("Every part of a page, with its rule", verdict, about, list(_sections()), lead, who, steps))


def _sections() -> Iterator[Section]:
    yield section("First on the page", *_first(), lead="On screen and on paper.")
    yield section("Sizes, spaces and colours", *_scale(), lead="Styles take these and no others; a test reads each style.")
    yield section("Nodes", *_nodes(), lead=f"Up to {FEW} are tiles with their pods, more are squares in order of use.")
    yield section("Charts and bars", *_charts(), lead="Each axis has a word; no axis is a logarithm.")
    yield section("Tables", *_tables(), lead="Numbers are aligned at their right, and no short name is broken.")
    yield section("A pod's nodes by rules", _matrix(), lead="Lines are nodes, the winner first; the rule that decides is marked.")


def _first() -> Iterator[Text]:
    yield card("The order", plain_table(["part", "rule"], [
        ["verdict", "One sentence. A single pod is named."],
        ["what was left out", "Beside a line in the colour of a mark, right under the verdict."],
        ["numbers", "Two to six. The colour of the upper edge is their meaning; 0 has none."],
        ["who loses", f"At most {NAMED} by name, the others counted, with a link to the list."],
        ["what to do next", "A sentence and a command line, of the same cluster and scheduler."],
        ["the rest", "Under headings, which the list of contents names. On paper it is an appendix."],
    ], "The order"))  # fmt: skip
    rows = [[tag(word, MEANINGS[meaning]), named(change), COLOURS[meaning]] for change, (word, meaning) in CHANGES.items()]
    yield card("What becomes of a pod", plain_table(["word", "change", "meaning"], rows, "What becomes of a pod"))


def _scale() -> Iterator[Text]:
    spaces = [[code(name), element("span", class_="track", style=f"width:var({name});min-width:0;background:var(--c0)")] for name in SPACES]
    sizes = [[code(name), element("span", "Text of this size", style=f"font-size:var({name})")] for name in SIZES]
    colours = [[sentence(dot(MEANINGS[name]), code(name)), words] for name, words in COLOURS.items()]
    series = joined((sentence(dot(f"var(--c{at})"), code(f"--c{at}")) for at in range(8)), " ")
    yield grid(
        card("Spaces", plain_table(["property", "space"], spaces, "Spaces")),
        card("Sizes of text", plain_table(["property", "size"], sizes, "Sizes of text")),
        card("Meanings", plain_table(["colour", "meaning"], colours, "Meanings"), element("p", series)),
    )
    yield note("A note is a remark that is not to be missed.")


def _nodes() -> Iterator[Text]:
    names, labels = ["n1", "n2", "n3", "n4"], {ZONES[0]: ["zone-a", "zone-a", "zone-b", "zone-b"]}
    before = MapSide("before", {"cpu": [0.2, 0.5, 0.0, 0.9]}, [["shop/a-0"], ["shop/b-0"], [], ["shop/c-0"]])
    after = MapSide("after", {"cpu": [0.4, 0.2, 0.3, 0.9]}, [["shop/a-0", "shop/a-1"], [], ["shop/b-1"], ["shop/c-0"]])
    yield ClusterMap("tiles", names, [before, after], labels, follows=True).html()
    many = [f"n{at}" for at in range(FEW + 30)]
    uses = [at / len(many) for at in range(len(many))]
    zones = {ZONES[0]: [f"zone-{'abc'[at % 3]}" for at in range(len(many))]}
    yield ClusterMap("squares", many, [MapSide("", {"cpu": uses})], zones).html()


def _charts() -> Iterator[Text]:
    columns = Chart(
        title="Pods", description="few columns have their numbers above them", labels=["placed", "waiting"], across="what becomes of pods",
        up="pods", series=[ChartSeries("a", [21, 1]), ChartSeries("b", [20, 2], at=1)],
    )  # fmt: skip
    lines = Chart(
        title="Use", description="shares are in percent", kind="steps", labels=[0, 10, 20, 30], across="seconds from the start",
        up="share in use", percent=True, series=[ChartSeries("cpu", [0.1, 0.4, 0.3, 0.3])],
    )  # fmt: skip
    yield grid(card("", columns.html()), card("", lines.html()))
    items = [StackItem("the same", 18, SAME), StackItem("different", 4, BAD)]
    yield card("A whole and its parts", stack("decisions", items))
    yield card("A bar beside its number", plain_table(["what", "share", ""], [["cpu", "38 %", track(0.38, GOOD)]], "A bar"))


def _tables() -> Iterator[Text]:
    colours = {"waits": BAD, "finds a node": GOOD}
    columns = (Column("pod", "name"), Column("outcome", "tag", filter=True, colours=colours), Column("cpu", "cores"))
    rows = [[f"shop/web-{at}", "waits" if at > 4 else "finds a node", 250 * at] for at in range(1, 7)]
    yield list_html(Table("pods", columns, rows, noun="pod", details=[[["details", "show on a click"]], *[None] * 5]))
    yield folded("What is folded is printed", element("p", "unless it says what the page says already."))


def _matrix() -> Markup:
    scores = [RuleScore("LeastAllocated", 7, 1), RuleScore("PodTopologySpread", 5, 2)]
    lines = [
        MatrixLine(node="n1", passed=frozenset(("NodeResourcesFit", "TaintToleration")), scores=scores, total=17, winner=True),
        MatrixLine(node="n2", passed=frozenset(("NodeResourcesFit",)), failed={"TaintToleration": "node(s) had untolerated taint"}),
    ]
    return Matrix("rules", ("NodeResourcesFit", "TaintToleration"), lines, deciding="PodTopologySpread").html()
