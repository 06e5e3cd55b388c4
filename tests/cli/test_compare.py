"""``kubeclassic compare``: configurations in words, forms, exit statuses."""

import json
import re
from pathlib import Path

import pytest

from kubeclassic.cli.declaring.setup import OPTIONS, NamedSetup
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.conftest import CLUSTER, ROOT
from tests.support.pages import data_of_page, table_of_page, with_page
from tests.support.program import ran

POLICY = ROOT / "examples" / "policies" / "kubernetes-classic.json"
OTHER = ("--a", "release=1.16", "--b", "release=1.27")


def answered(*arguments):
    """The output of ``compare`` for the example cluster."""
    return ran("compare", CLUSTER, *arguments, status=(0, 1)).out


def test_zones():
    """Zones by the old label alone are told of where a framework takes part; with --newer-labels its
    spreading sees zones."""
    found = []
    for more, warned in (((), True), (("--newer-labels",), False)):
        out, err = ran("compare", CLUSTER, *OTHER, "--mode", "locked", "-o", "json", *more, status=1)
        found.append(json.loads(out)["against"][0]["causes"])
        assert ("warning: 11 nodes have label " in err) == warned
    assert found[0] != found[1]
    assert (
        "nodes have label"
        not in ran("compare", CLUSTER, "--a", "release=1.12", "--b", "release=1.16", status=1).err
    )


# --- Configurations -----------------------------------------------------------------------------------------


def test_quotes():
    """Values are quoted as in a shell."""
    found = NamedSetup.parse("a", "release=1.16 policy='my policy.json' feature-gates=A=true,B=false")
    assert found.setup.values == {
        "release": "1.16",
        "policy": Path("my policy.json"),
        "gates": "A=true,B=false",
    }


@pytest.mark.parametrize(
    "text, says",
    [
        ("release=1.16 max-pd-vols=0", 'max-pd-vols: expected a number above 0, got "0"'),
        ("1.99", "release: expected 1.12 to 1.36"),
        ("rules=no.py:RULES", 'rules: got "no.py:RULES": no such file'),
        ("feature-gates=Nope=true", "feature-gates: unrecognized feature gate: Nope"),
        ("extenders=no", "extenders: expected off, call"),
        ("provider=No", 'provider: plugin "No" has not been registered'),
        ("policy=no.json", "missing policy config file no.json"),
    ],
)
def test_a_refusal_names_the_configuration(text, says):
    """It is one of several."""
    assert ran("compare", CLUSTER, "--a", "1.16", "--b", text, status=2).err.startswith(
        f"kubeclassic: --b: {says}"
    )


def test_large_limits():
    """As the flag takes them."""
    assert NamedSetup.parse("a", f"release=1.16 max-pd-vols={10**12}").setup.get("max_pd_vols") == 10**12


def test_a_profile_alone_means_the_framework():
    """Where only a profile is given, it is for the release that has profiles."""
    assert NamedSetup.parse("a", "profile=p.yaml").setup.version in FRAMEWORK_RELEASES


def test_every_key_counts(tmp_path):
    """Each key of a configuration changes the scheduler that is made."""
    profile = tmp_path / "a profile.yaml"
    header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    profile.write_text(
        header + "profiles: [{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}]\n"
    )
    text = f"release=1.14 policy={POLICY} percentage=30 tie-break=first feature-gates=PodPriority=false"
    older = NamedSetup.parse("a", text).engine()
    assert (
        older.algorithm.release.version,
        older.algorithm.percentage,
        older.algorithm.gates["PodPriority"],
    ) == ("1.14", 30, False)
    assert older.ties.pick(3, 1) == (0, False)
    newer = NamedSetup.parse("b", f"profile='{profile}' percentage=30").engine()
    assert "TaintToleration" not in [predicate.name for predicate in newer.algorithm.predicates]
    assert newer.algorithm.percentage == 30
    packing = NamedSetup.parse("c", "provider=ClusterAutoscalerProvider").engine()
    assert "MostRequestedPriority" in [priority.name for priority, _ in packing.algorithm.priorities]
    assert NamedSetup.parse("d", "extenders='replay a b.jsonl'").setup.get("extenders") == "replay a b.jsonl"
    profile.write_text(header + "profiles: [{plugins: {score: {enabled: [{name: Coscheduling}]}}}]\n")
    assert (
        "Coscheduling"
        in NamedSetup.parse("e", f"profile='{profile}' plugins=leave-out").engine().algorithm.unread[0]
    )
    with pytest.raises(UnknownNameError):
        NamedSetup.parse("a", "seed=1")
    assert len(OPTIONS) == 12


@pytest.fixture(scope="module", params=["free", "locked"])
def both(request, tmp_path_factory):
    """Three configurations on the example cluster, as a record and as a page."""
    more = ("--c", "release=1.12 provider=ClusterAutoscalerProvider", "--mode", request.param)
    html, record = with_page(tmp_path_factory.mktemp("page"), "compare", CLUSTER, *OTHER, *more, status=1)
    return record, html


def test_the_pods(both):
    """The list has each pod that is decided or ends otherwise, where it ends for each, and both tables of
    its decisions."""
    record, html = both
    data = data_of_page(html)["pods-data"]
    rows = table_of_page(html, "pods")
    ends = [configuration["hosts"] for configuration in record["configurations"]]
    differing = {difference["pod"] for difference in record["differences"]}
    wanted = [pod for pod in ends[0] if pod in differing or len({hosts[pod] for hosts in ends}) > 1]
    assert [row["pod"] for row in rows] == wanted
    for row in rows:
        hosts = list(row.values())[1:4]
        assert [None if host.startswith("<none>") else host for host in hosts] == [
            one[row["pod"]] for one in ends
        ]
    for row, cycles in zip(rows, data["details"], strict=True):
        theirs = [difference for difference in record["differences"] if difference["pod"] == row["pod"]]
        assert len(cycles or []) == len(theirs)
        for cycle, difference in zip(cycles or [], theirs, strict=True):
            _check_details(
                cycle, difference, data["shared"], [one["name"] for one in record["configurations"]]
            )


def _check_details(cycle, difference, shared, names):
    """The details of a cycle have the nodes, totals and weighed scores of the record."""
    text = shared["texts"]
    assert text[cycle[0]].startswith(f"Decision {difference['number']}")
    for side, _, _, _, nodes in cycle[2]:
        theirs = difference["decisions"][names[side]]["nodes"]
        assert [(text[node], total) for node, _, _, _, total in nodes] == [
            (node["node"], node["total"]) for node in theirs
        ]
        for (_, _, place, scores, _), node in zip(nodes, theirs, strict=True):
            weighed = zip(shared["rules"][place], scores, strict=True)
            wanted = {rule: (score["score"], score["weight"]) for rule, score in node["scores"].items()}
            assert {text[rule]: (score, weight) for (rule, weight), score in weighed} == wanted


# --- Forms --------------------------------------------------------------------------------------------------


def test_html_stands_by_itself():
    """The page says of what it speaks and how to repeat it, with what users name escaped."""
    html = answered("--a", "release=1.16 tie-break='first'", "--b", "release=1.27", "-o", "html")
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\';' in html
    assert "tie-break=&#39;first&#39;" in html
    assert re.search(r"11 nodes, \d+ pods run, 22 pods wait", html)
    assert "kubeclassic " in html
    assert [side["title"] for side in data_of_page(html)["map-data"]["sides"]] == [""]


def test_an_upgrade_begins_at_the_older_release():
    """The next step is a command that works, whichever configuration is the newer one."""
    pages = [
        ran("compare", CLUSTER, "--a", first, "--b", second, "-o", "html", status=1).out
        for first, second in (("1.16", "1.27"), ("1.27", "1.16"))
    ]
    assert [" --from 1.16 --to 1.27" in page for page in pages] == [True, True]


def test_report(tmp_path):
    """--report writes the page besides the usual output; in mode free its map has a side for each
    configuration."""
    file = tmp_path / "page.html"
    assert "more decisions differ" in answered(*OTHER, "--report", str(file), "--mode", "free")
    sides = data_of_page(file.read_text())["map-data"]["sides"]
    assert [side["title"] for side in sides] == ["a (1.16)", "b (1.27)"]
    assert sum(len(pods) for pods in sides[0]["pods"]) > 0


def test_the_same():
    """A page without differences says so."""
    html = answered("--a", "release=1.15", "--b", "release=1.15", "-o", "html")
    assert re.sub("<[^>]*>", "", re.findall("<h1.*?</h1>", html)[0]) == "All 22 decisions are the same"
    assert "pods-data" not in data_of_page(html)


def test_a_table_is_cut():
    """A table lists as many differences as asked for, says how many are left, and counts all."""
    whole, cut = (answered(*OTHER, "--mode", "locked", "--show", show) for show in ("50", "1"))
    assert "3 more decisions differ; --show 4 lists them" in cut
    assert len(cut.splitlines()) == len(whole.splitlines()) - 3 + 2
    assert "more decisions differ" not in whole
    assert "  4 equally good: another node that a scores just as high" in cut


def test_totals_are_sums():
    """In both tables a node's total is the sum of its scores, each times its weight."""
    found = json.loads(answered(*OTHER, "-o", "json"))
    scored = [
        n
        for d in found["differences"]
        for one in d["decisions"].values()
        for n in one["nodes"]
        if n["scores"]
    ]
    assert scored
    assert all(
        node["total"] == sum(score["score"] * score["weight"] for score in node["scores"].values())
        for node in scored
    )
