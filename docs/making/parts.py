"""The page that shows every part of pages with its rule: made of the parts themselves, so that it cannot say what they do not do."""

from __future__ import annotations

from collections.abc import Iterator

from kubeclassic.api.meaning.labels import ZONES
from kubeclassic.api.view import (
    CHANGES,
    Bands,
    BulletList,
    Chart,
    CodeText,
    Column,
    MapSide,
    Matrix,
    MatrixLine,
    NextStep,
    NodeMap,
    PodOutcome,
    PodOutcomes,
    RuleScore,
    Section,
    Share,
    ShareBar,
    Table,
    Verbatim,
    View,
    Words,
    on_page,
)
from kubeclassic.cli.report.page.clustermap import FEW
from kubeclassic.cli.report.page.document import NAMED, About, page_html

PATH = "guides/parts.html"
COLOURS = {
    "good": "fine", "same": "nothing new", "near": "worth a look", "bad": "worse", "held": "not tried",
}  # fmt: skip
"""Meaning -> in words."""
ORDER = (
    ("verdict", "One sentence. A single pod is named."),
    ("what was left out", "Beside a line in the colour of a mark, right under the verdict."),
    ("who loses", f"At most {NAMED} by name, the others counted, with a link to the list."),
    ("what to do next", "A sentence and a command line, of the same cluster and scheduler."),
    ("shares and numbers", "The outcome as parts of one whole, and two to six numbers in a line."),
    ("the rest", "Under headings, which the list of contents names. On paper it is an appendix."),
)


def page() -> str:
    """The page."""
    about = About(inputs=("cluster/",), releases=("1.27",), command=("kubeclassic", "simulate", "cluster/"))
    return page_html(View(
        title="Every part of a page, with its rule", verdict="The verdict is one sentence: the outcome, and for what",
        facts={"what the number counts": 9, "nodes": 4}, shares=[Share("placed", 9, "good"), Share("unschedulable", 1, "bad")],
        who=PodOutcomes("Who loses, by name", [PodOutcome(f"shop/{change}-0", change, "why, in a few words") for change in CHANGES]),
        next=[NextStep("What to do is a sentence, with the command that does it:", ("explain", "shop/web-0"))],
        sections=list(_sections()),
    ), about)  # fmt: skip


def _sections() -> Iterator[Section]:
    order = Table("order", (Column("part", "name"), Column("rule")), ORDER)
    columns = (Column("word", "tag", colours=dict(CHANGES.values())), Column("meaning"))
    words = Table(
        "changes",
        columns,
        [[word, COLOURS[meaning]] for word, meaning in CHANGES.values()],
        caption="What becomes of a pod",
    )
    note = on_page("A note is a remark that is not to be missed.", look="note")
    yield Section("First on the page", [order, words, *note], "On screen and on paper.")
    yield Section(
        "Nodes", list(_nodes()), f"Up to {FEW} are tiles with their pods, more are squares in order of use."
    )
    yield Section("Charts and bars", list(_charts()), "Each axis has a word; no axis is a logarithm.")
    yield Section(
        "Tables", list(_tables()), "Numbers are aligned at their right, and no short name is broken."
    )
    yield Section(
        "A pod's nodes by rules",
        [_matrix()],
        "Lines are nodes, the winner first; the rule that decides is marked.",
    )
    how = Words("Give the node more memory ", CodeText("--set 'node n1 allocatable.memory=8Gi'"))
    folded = BulletList(
        title="What is folded is printed", items=["unless it says what the page says already"], folded=True
    )
    yield Section(
        "Lists and files",
        [BulletList(title="Change a node", items=[how], start=1), folded, Verbatim("File", "as: it is")],
    )


def _nodes() -> Iterator[NodeMap]:
    before = MapSide("before", {"cpu": [0.2, 0.5, 0.0, 0.9]}, [["shop/a-0"], ["shop/b-0"], [], ["shop/c-0"]])
    after = MapSide(
        "after", {"cpu": [0.4, 0.2, 0.3, 0.9]}, [["shop/a-0", "shop/a-1"], [], ["shop/b-1"], ["shop/c-0"]]
    )
    yield NodeMap(
        ["n1", "n2", "n3", "n4"],
        [before, after],
        {ZONES[0]: ["zone-a", "zone-a", "zone-b", "zone-b"]},
        follows=True,
    )
    many, zones = range(FEW + 30), {ZONES[0]: [f"zone-{'abc'[at % 3]}" for at in range(FEW + 30)]}
    yield NodeMap(
        [f"n{at}" for at in many],
        [MapSide("", {"cpu": [at / len(many) for at in many]})],
        zones,
        name="squares",
    )


def _charts() -> Iterator[Chart | ShareBar | Table | Bands]:
    yield Chart(
        title="Pods", description="few columns have their numbers above them", labels=["placed", "waiting"], across="what becomes of pods",
        up="pods", series={"a": [21, 1], "b": [20, 2]},
    )  # fmt: skip
    yield Chart(
        title="Use", description="shares are in percent", kind="steps", labels=[0, 10, 20, 30], across="seconds from the start",
        up="share in use", percent=True, series={"cpu": [0.1, 0.4, 0.3, 0.3]},
    )  # fmt: skip
    yield ShareBar("A whole and its parts", [Share("the same", 18), Share("different", 4, "bad")])
    yield Table("bars", "what | name; share | share; | bar | good", [["cpu", 0.38, 0.38]], caption="A bar")
    states = {"on the first node": "same", "on another node": "near"}
    first, other = states
    yield Bands(
        ["1.16", "1.17"], states, [{first: 9}, {first: 7, other: 2}], [{(first, first): 7, (first, other): 2}]
    )


def _tables() -> Iterator[Table]:
    colours = {"waits": "bad", "finds a node": "good"}
    columns = (
        Column("pod", "name"),
        Column("outcome", "tag", filter=True, colours=colours),
        Column("cpu", "cores"),
    )
    rows = [[f"shop/web-{at}", "waits" if at > 4 else "finds a node", 250 * at] for at in range(1, 7)]
    yield Table("pods", columns, rows, noun="pod", details=[[["details", "show on a click"]], *[None] * 5])


def _matrix() -> Matrix:
    scores = [RuleScore("LeastAllocated", 7, 1), RuleScore("PodTopologySpread", 5, 2)]
    lines = [
        MatrixLine(
            node="n1", passed=("NodeResourcesFit", "TaintToleration"), scores=scores, total=17, winner=True
        ),
        MatrixLine(
            node="n2",
            passed=("NodeResourcesFit",),
            failed={"TaintToleration": "node(s) had untolerated taint"},
        ),
    ]
    return Matrix(("NodeResourcesFit", "TaintToleration"), lines, "PodTopologySpread")
