"""The parts of views on a page, one kind each: what stands in the HTML before any script runs."""

import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.record import replace
from kubeclassic.api.view import (
    Bands,
    BulletList,
    Chart,
    CodeText,
    MapSide,
    Matrix,
    MatrixLine,
    NextStep,
    NodeMap,
    Paragraph,
    PodOutcome,
    PodOutcomes,
    RuleScore,
    Share,
    ShareBar,
    Verbatim,
    Words,
)
from kubeclassic.cli.report.page.clustermap import FEW, MOST_ROWS, SHOWN, UseScale, _axis_step
from kubeclassic.cli.report.page.document import MOST_LINES, NAMED, About
from kubeclassic.simulation.nodesbyuse import NodeUse, PodPlaces, ResourceUse, labels_of, share_of
from tests.support.pages import data_of_page, part_html

ZONE = "topology.kubernetes.io/zone"
SIDES = (
    MapSide("before", {"cpu": [0.0, 0.55, None]}, [["a"], ["a", "b"], []]),
    MapSide("after", {"cpu": [0.1, 0.2, 1.5]}, [["c"], ["ns/a", "b"], []], states=["", "", "gone"]),
)
MAP = NodeMap(["n1", "n2", "n3"], SIDES, {ZONE: ["z1", "z1", ""], "pool": ["x", "y", "x"]}, {"gone": "red"})
CHART = Chart(
    title="use",
    description="how full nodes are",
    labels=["0 %", "10 %", "20 %"],
    across="in use",
    up="nodes",
    series={"a": [1511, 2, 3], "b": [1500, 2, None]},
)


@pytest.mark.parametrize(
    "part, shown",
    [
        (Paragraph(Words("a<b", CodeText("--x")), look="note"), '<p class="note">a&lt;b<code>--x</code></p>'),
        (
            BulletList(items=["<a>"], title="T", start=3),
            '<h3>T</h3><ol class="helps" start="3"> <li>&lt;a&gt;</li></ol>',
        ),
        (
            BulletList(items=["a"], title="T", folded=True),
            "<details><summary>T</summary><ul> <li>a</li></ul> </details>",
        ),
        (NextStep("Try:", ("explain", "a b")), "<p>Try: <code>kubeclassic explain &#39;a b&#39;</code></p>"),
    ],
)
def test_sentences(part, shown):
    """Names, code, lists and commands are marked, and what is no markup is escaped."""
    assert " ".join(part_html(part).split()) == shown


def test_files():
    """A file stands as it is, with its fingerprint."""
    html = part_html(Verbatim("Policy", "{<}"))
    assert "<pre><code>{&lt;}</code></pre>" in html
    assert re.search(r"<code>[0-9a-f]{64}</code>", html)


def test_shares():
    """A bar has a piece for each part that there is, a legend with all, and says itself to those who do not
    see it."""
    html = part_html(ShareBar("pods", [Share("same", 3), Share("none", 0), Share("other", 1, "bad")]))
    assert re.findall(r"flex:(\d+)", html) == ["3", "1"]
    assert 'aria-label="pods: 3 same, 0 none, 1 other"' in html
    assert re.findall(r"</b> ([^<\n]*)", html) == ["75.0 %", "0.0 %", "25.0 %"]


def test_outcomes():
    """The first pods are named with what became of them, the others counted, with a link."""
    html = part_html(
        PodOutcomes("Who", [PodOutcome(f"p{at}", "moved", "why") for at in range(NAMED + 2)], "pods")
    )
    assert html.count("moves</span>") == NAMED
    assert '<a href="#pods">2 more</a>' in html


# --- Map ----------------------------------------------------------------------------------------------------


def test_squares():
    """Each side has a square for each node, by zone, in the colour of its use; a node without the
    resource has none."""
    html = part_html(attrs.evolve(MAP, sides=[attrs.evolve(side, pods=()) for side in SIDES]))
    before, after = html.split('class="side"')[1:]
    assert re.findall(r"<figcaption>([^<]*)</figcaption>", before) == ["no zone: 1 node", "z1: 2 nodes"]
    assert [re.findall(r'<path class="(\w+)"', side) for side in (before, after)] == [
        ["none", "u0", "u10"],
        ["u11", "u1", "u3"],
    ]
    assert html.count("h9v9h-9z") == 6


def test_squares_are_in_order_of_use():
    """If there are many nodes, the most used come first, by their use in the end."""
    count = FEW + 1
    names = [f"n{at}" for at in range(count)]
    uses = [at / count for at in range(count)]
    html = part_html(NodeMap(names, [MapSide("", {"cpu": uses}, [["p"]] * count)]))
    assert 'class="u10" d="M0 0h9' in html
    assert 'class="tile"' not in html


def test_colours_go_over_what_occurs():
    """Ten colours go from the lowest to the highest share that occurs; nothing and too much have one
    each."""
    scale = UseScale.of([0.21, 0.97, 0.5])
    assert (scale.low, scale.high) == (20, 100)
    assert [scale.level(share) for share in (None, 0.0, 0.21, 0.281, 0.6, 0.97, 1.0, 1.001)] == [
        None,
        0,
        1,
        2,
        5,
        10,
        10,
        11,
    ]
    html = part_html(MAP)
    assert ["nothing" in html, "over 100 %" in html] == [True, True]


def test_tiles():
    """Few nodes are tiles with their pods by name; those that came are marked, and those that left still
    stand there."""
    before, after = part_html(MAP).split('class="side"')[1:]
    marked = r'<li class="(\w+)"><span class="name"[^>]*>(\w+)<'
    assert re.findall(marked, before) == [("stayed", "a"), ("stayed", "a"), ("stayed", "b")]
    assert re.findall(marked, after) == [
        ("came", "c"),
        ("left", "a"),
        ("came", "a"),
        ("left", "a"),
        ("stayed", "b"),
    ]
    assert all(text in after for text in (">gone</span>", "pod came", "pod left", 'title="ns/a"'))


def test_what_follows_is_drawn_once():
    """Of several states tiles show only the last; a side between with unknown pods is compared with none."""
    assert part_html(attrs.evolve(MAP, follows=True)).count('class="side"') == 1
    sides = [SIDES[0], MapSide("between", {"cpu": [0.9, 0.9, 0.9]}), SIDES[1]]
    _, between, after = part_html(attrs.evolve(MAP, sides=sides, follows=True)).split('class="side"')[1:]
    assert "<ol" not in between
    assert after.count('<li class="left"') == 2


def test_many_pods_in_a_tile():
    """A tile names the first pods, and counts the others."""
    html = part_html(NodeMap(["a"], [MapSide("", {}, [[f"p{at}" for at in range(SHOWN + 3)]])]))
    assert html.count('class="stayed"') == SHOWN
    assert "+ 3 more" in html


def test_data():
    """The script gets shares in thousandths, labels, pods by number, and states with their colours."""
    data = data_of_page(part_html(MAP))["map-data"]
    assert data["sides"][0]["uses"] == {"cpu": [0, 550, -1]}
    assert [[data["names"][pod] for pod in pods] for pods in data["sides"][0]["pods"]] == [
        ["a"],
        ["a", "b"],
        [],
    ]
    assert data["groupBy"] == ZONE
    assert [data["labels"]["pool"]["texts"][at] for at in data["labels"]["pool"]["values"]] == ["x", "y", "x"]
    assert (data["sides"][1]["states"], data["colours"]) == (["", "", "gone"], {"gone": "red"})


def test_the_matrix():
    """A cell says passed, turned down with the reason, or not asked; scores are one bar; the winner and what
    decides are marked."""
    lines = [
        MatrixLine(
            node="n1", passed="AB", scores=[RuleScore("S", 7, 1), RuleScore("T", 5, 2)], total=17, winner=True
        ),
        MatrixLine(node="n2", passed="A", failed={"B": "no room"}),
        MatrixLine(node="n3", state="not visited"),
    ]
    html = part_html(Matrix("AB", lines, "T"))
    cells = re.findall(r'<span class="out">([^<]*)</span>', html)
    assert cells == ["passed", "passed", "passed", "turned down", "not asked", "not asked"]
    assert all(
        text in html for text in ("B: no room", "not visited", "T 5 x 2 = 10", '<td class="n">17</td>')
    )
    assert html.count("chosen") == 1
    assert re.search(r"T <span[^>]*>decides</span>", html)
    assert [float(width) for width in re.findall(r"width:([\d.]+)%", html)] == [41.18, 58.82]
    many = part_html(Matrix("A", [MatrixLine(node=f"n{at}") for at in range(MOST_LINES + 3)]))
    assert (many.count("<tr") - 1, "3 more lines are not shown" in many) == (MOST_LINES, True)


# --- Chart --------------------------------------------------------------------------------------------------


def test_the_picture():
    """The picture takes colours and fonts from the page, and has a label; its numbers are below."""
    html = part_html(CHART)
    svg = html[html.index("<svg") : html.index("</svg>")]
    assert "var(--c0)" in svg
    assert "var(--c1)" in svg
    assert not re.search(r"#[0-9a-f]{6}|font-family", svg)
    assert 'aria-label="use: how full nodes are"' in svg
    told = re.findall(r'<td class="n">([^<]*)', html)
    assert told == ["0 %", "1,511", "1,500", "10 %", "2", "2", "20 %", "3", "-"]


def test_columns_are_as_high_as_their_numbers():
    """No axis is a logarithm, and few columns have their numbers above them, so that low ones are read
    beside high ones."""
    svg = part_html(CHART)
    first, second, *_ = map(float, re.findall(r'height="([\d.]+)" fill', svg))
    assert first / second == pytest.approx(1511 / 2, rel=0.5)
    assert first > 100
    assert ">1,511</text>" in svg


@given(least=st.floats(1e-6, 1e9))
def test_steps_are_round(least):
    """A step is a round number, as large as it has to be and at most two and a half times that."""
    step = _axis_step(least, whole=False)
    assert f"{step:e}"[0] in "125"
    assert least * (1 - 1e-6) <= step <= 2.5 * least
    assert _axis_step(least, whole=True) >= 1


def test_no_values_no_picture():
    """A chart without any value has its table alone."""
    html = part_html(attrs.evolve(CHART, series={"a": [None, None, None]}))
    assert not re.search("<svg|<details", html)


@pytest.mark.parametrize("missing", ["across", "up"])
def test_axes_say_what_they_are(missing):
    """There is no chart without a word on each axis."""
    shape = {"title": "t", "description": "d", "across": "a", "up": "u", "series": {}, missing: ""}
    with pytest.raises(ValueError, match=missing):
        Chart(**shape)


@pytest.mark.parametrize("kind", ["lines", "steps"])
def test_lines(kind):
    """Lines go over numbers, shares in percent; of many numbers some stand in the table, in even steps."""
    values = list(range(3 * MOST_ROWS))
    html = part_html(
        Chart(
            title="t",
            description="d",
            kind=kind,
            percent=True,
            across="s",
            up="u",
            labels=values,
            series={"": values},
        )
    )
    assert "%</text>" in html
    assert 'viewBox="0 0 440 220"' in html
    assert f"{MOST_ROWS} of {len(values)}, in even steps" in html
    assert f">{values[-1]}<" in html


def test_bands():
    """Columns are of one height, and what moves is a band of its own."""
    html = part_html(
        Bands(
            ["1.16", "1.17"],
            {"same": "red", "else": "blue"},
            [{"same": 4}, {"same": 3, "else": 1}],
            [{("same", "same"): 3, ("same", "else"): 1}],
        )
    )
    assert re.findall(r"<title>([^<]*)", html) == [
        "3 from same to same",
        "1 from same to else",
        "1.16: 4 same",
        "1.17: 3 same",
        "1.17: 1 else",
    ]
    whole, *halves = map(float, re.findall(r'height="([\d.]+)" fill', html))
    assert whole == sum(halves)


def test_labels_that_group_nodes():
    """A label that all nodes share, or that each has for itself, is no choice; zones always are."""
    nodes = [
        NodeUse(f"n{at}", PodPlaces(1, 0, 0), {}, {"same": "x", "own": f"{at}", "half": f"{at % 2}"})
        for at in range(50)
    ]
    assert list(labels_of(nodes)) == ["half"]
    assert list(labels_of([replace(node, labels={ZONE: "z"}) for node in nodes])) == [ZONE]


def test_shares_of_nodes():
    """A resource that a node lacks has no share; pod slots are treated as other resources."""
    node = NodeUse(
        "a",
        PodPlaces(10, 1, 2),
        {"cpu": ResourceUse.of("cpu", 1000, 100, 500), "gpu": ResourceUse.of("gpu", 0, 0, 0)},
        {},
    )
    assert [share_of(node, name) for name in ("cpu", "pods", "gpu", "memory")] == [0.5, 0.2, None, None]
    assert [share_of(node, name, before=True) for name in ("cpu", "pods")] == [0.1, 0.1]


def test_what_repeats_a_question():
    """Another question is asked of the same cluster and scheduler."""
    about = About(inputs=("c/",), command=("kubeclassic", "simulate", "c/", "--release", "1.27", "--details"))
    assert about.asking("explain", "a/b") == ("kubeclassic", "explain", "c/", "a/b", "--release", "1.27")
    assert about.title == "kubeclassic simulate"


@pytest.mark.parametrize(
    "words, kept",
    [
        ("--no-defaults a/b c/", "--no-defaults"),
        ("c/ --disable-preemption a/b --seed 3", "--disable-preemption --seed 3"),
        ("c/ --pods=p.yaml", "--pods=p.yaml"),
        ("c/ --pods p.yaml --set=x", "--pods p.yaml --set=x"),
    ],
)
def test_switches_take_no_word_along(words, kept):
    """Nor is a file that is read besides the cluster named as one of it."""
    about = About(inputs=("c/",), files=("p.yaml",), command=("k", "explain", *words.split()))
    assert about.asking("explain", "x") == ("k", "explain", "c/", "x", *kept.split())
