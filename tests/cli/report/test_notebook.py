"""Results in notebooks: the parts of pages without scripts, escaped, small, and with a style that stays
inside."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import kubeclassic
from kubeclassic import Cluster, Scheduler
from kubeclassic.api.cluster import uses_of
from kubeclassic.api.meaning.labels import ZONES
from kubeclassic.api.view import Chart, MapSide, NodeMap, Section, Share, View, table_of, tables
from tests.support.build import node, pod
from tests.support.program import FIND

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CLUSTER = str(EXAMPLES / "cluster")
SMALL = str(EXAMPLES / "capacity" / "small-pod.yaml")
BIG = str(EXAMPLES / "capacity" / "big-node.yaml")
EVIL = "<script>alert(1)</script>"
MOST_BYTES = 100_000

SHOWN = {
    "Cluster": (lambda: Cluster.load(CLUSTER), "11 nodes with 8 pods; 22 pods wait."),
    "Decision": (
        lambda: Scheduler(Cluster.load(CLUSTER)).explain("analytics/yearly-report"),
        "analytics/yearly-report fits on no node.",
    ),
    "simulate": (
        lambda: kubeclassic.simulate(CLUSTER),
        "21 of 22 pods find a node; analytics/yearly-report does not, because of memory.",
    ),
    "explain": (lambda: kubeclassic.explain(CLUSTER, "shop/orders-1"), "shop/orders-1 goes to database-c1"),
    "compare": (
        lambda: kubeclassic.compare(CLUSTER, "1.15", "1.16"),
        "No decision is different under 1.16; 5 are equally good",
    ),
    "replay": (
        lambda: kubeclassic.replay(CLUSTER, until=60, series_every=1.0),
        "1 of 22 pods still waits for a node",
    ),
    "capacity": (
        lambda: kubeclassic.capacity(CLUSTER, SMALL),
        "123 more copies of small-pod fit; then cpu has run out on 5 nodes.",
    ),
    "drain": (lambda: kubeclassic.drain(CLUSTER, ["general-a1"]), "general-a1 cannot go."),
    "what_if": (
        lambda: kubeclassic.what_if(CLUSTER, "analytics/yearly-report"),
        "3 more changes help, 2 at a cost.",
    ),
    "add_nodes": (lambda: kubeclassic.add_nodes(CLUSTER, [BIG]), "Add 1 big: each of 22 pods finds a node."),
    "migrate": (
        lambda: kubeclassic.migrate(str(EXAMPLES / "policies" / "kubernetes-classic.json")),
        "The Policy as a profile",
    ),
}


class Outside(HTMLParser):
    """Collects the tags of a text, and the text itself but for the style."""

    def __init__(self):
        super().__init__()
        self.tags = []
        self.words = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags[-1:] != ["style"] or "{" not in data:
            self.words.append(data)


def parsed(text):
    """*text* as tags and words."""
    found = Outside()
    found.feed(text)
    return found


class TestEachResult:
    @pytest.fixture(scope="class", params=list(SHOWN))
    @classmethod
    def shown(cls, request):
        """The HTML of one of them, and its verdict."""
        make, verdict = SHOWN[request.param]
        return make()._repr_html_(), verdict

    def test_it_says_the_outcome_first(self, shown):
        """Each has its outcome as a sentence before anything else."""
        text, verdict = shown
        found = re.search(r'<p class="verdict">(.*?)</p>', text)
        assert verdict in found[1]

    def test_it_needs_nothing(self, shown):
        """No result has a script, a link or external content, and each is small."""
        text, _ = shown
        assert {"script", "link", "img", "iframe", "button", "input"} & set(parsed(text).tags) == set()
        assert not re.search(r"https?:|url\((?!#)|@import", text)
        assert len(text.encode()) < MOST_BYTES

    def test_its_style_stays_inside(self, shown):
        """All rules of the style stand within the one of the ``div``."""
        text, _ = shown
        (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
        depth = 0
        ends = []
        for place, letter in enumerate(style):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == "}" and depth == 0:
                ends.append(place)
        assert style.startswith(".kubeclassic {")
        assert ends == [len(style.rstrip()) - 1]
        assert ":root {" not in style


def lines(values):
    """A chart whose words are all markup."""
    return Chart(
        title=EVIL, description=EVIL, kind="steps", across=EVIL, up=EVIL, labels=values, series={EVIL: values}
    )


# --- View ---------------------------------------------------------------------------------------------------


def test_all_texts_are_escaped():
    """A name with HTML in it is text, wherever it stands."""
    rows = [{EVIL: EVIL}, {EVIL: [EVIL]}]
    found = View(
        title=EVIL,
        facts={EVIL: EVIL, "long": EVIL * 3},
        verdict=EVIL,
        shares=[Share(EVIL, 1)],
        sections=[
            *tables(table_of(EVIL, rows), table_of(f"{EVIL}2", rows)),
            Section(parts=[NodeMap([EVIL], [MapSide("", {EVIL: [0.5]})], {EVIL: [EVIL]}), lines([0.0, 1.0])]),
        ],
    ).html()
    assert "script" not in parsed(found).tags
    assert "alert(1)" in "".join(parsed(found).words)


def test_long_tables_are_counted():
    """A table with many rows shows the first fifty, and counts the others."""
    found = View(title="a", sections=tables(table_of("t", [{"n": at} for at in range(1_000)]))).html()
    assert found.count("<tr>") == 51
    assert "and 950 more" in found


def test_the_largest_map_is_small():
    """Two thousand nodes in forty zones stay within the bound; of more nodes there is no map."""
    names = [f"node-{at}" for at in range(2_001)]
    zones = {ZONES[0]: [f"zone-{at % 40}" for at in range(2_000)]}
    found = NodeMap(names[:-1], [MapSide("", {"cpu": [at / 2_000 for at in range(2_000)]})], zones)
    assert len(View(title="a", sections=[Section(parts=[found])]).html()) < MOST_BYTES
    large = NodeMap(names, [MapSide("", {"cpu": [0.1] * 2_001})])
    assert "The map is left out" in View(title="a", sections=[Section(parts=[large])]).html()


def test_long_series_are_thinned():
    """A line has two hundred points at most, its ends among them."""
    times = [float(at) for at in range(5_000)]
    text = View(title="a", sections=[Section(parts=[lines(times)])]).html()
    assert len(text) < MOST_BYTES
    assert "4,999.0" in text


def test_a_notebook_says_whether_it_is_dark():
    """The style follows the theme of JupyterLab and of VS CodeText, and else that of the system."""
    text = View(title="a").html()
    assert '[data-jp-theme-light="false"] &, .vscode-dark &' in text
    assert "light-dark(" in text


def test_a_cluster_shows_how_full_it_is():
    """The map of a cluster has what pods on each node request, and no share where a node has none of a
    resource."""
    nodes = [node("a", cpu="2", memory="4Gi"), node("b", cpu="1", memory="1Gi")]
    found = uses_of(Cluster(nodes).nodes, Cluster([*nodes, pod("p", on="a", cpu="500m")]).pods)
    assert found.nodes == ["a", "b"]
    assert found.sides[0].uses["cpu"] == [0.25, 0.0]
    assert "map" not in Cluster([])._repr_html_().partition("</style>")[2]


def test_the_library_does_not_load_the_pages():
    """Nothing of the command line is imported before a notebook asks."""
    script = (
        f"import kubeclassic; found = kubeclassic.simulate({CLUSTER!r}); import sys;"
        "before = [n for n in sys.modules if n.startswith('kubeclassic.cli')]; found._repr_html_();"
        "print(before, 'kubeclassic.cli.report.page.document' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", FIND + script], capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"
