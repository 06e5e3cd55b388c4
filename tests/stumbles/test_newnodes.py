"""Which nodes to add: for the pods that they can help, with those that nothing helps named, and why a cheaper kind was not taken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.manifests import node, pod
from tests.support.program import ran

CLAIM = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
GENERAL = {"pool": "general"}
WEBS = [pod(f"web-{number}", 1) for number in range(4)]
WAITING = [*WEBS, pod("typo", 1, nodeSelector={"pool": "genral"}), pod("nopvc", 1, volumes=CLAIM)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a full node, four pods that new nodes help, and two that nothing helps."""
    monkeypatch.chdir(tmp_path)
    dumped = [node("a", 2, labels=GENERAL), pod("full", 2, on="a"), *WAITING]
    (tmp_path / "dump.yaml").write_text(yaml.safe_dump_all(dumped), encoding="utf-8")
    tainted = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}
    for name, cpu, spec in (("m5", "4", {}), ("c", "8", tainted), ("small", "1", {})):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(node(name, cpu, labels=GENERAL, **spec)), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_a_pod_that_never_fits_does_not_spoil_the_answer(release: str, folder: Path) -> None:
    """Each real cluster has a pod with a wrong selector, and one whose claim is missing: the others get their answer all the same."""
    asked = ["capacity", "dump.yaml", "--add-node", "m5.yaml", "--release", release]
    found = ran(*asked, "-o", "json", status=1).document
    assert (found["added"][0]["node"], found["added"][0]["count"], found["placed"]) == ("m5", 1, False)
    assert found["withoutNode"]["count"] == 2
    assert {one["pod"] for one in found["withoutNode"]["pods"]} == {"default/typo", "default/nopvc"}
    told = ran(*asked, status=1).out
    assert told.startswith("Add 1 m5 for 4 of 6 pods: each of them finds a node; 2 find none with up to 6.\n")
    assert "\n  default/typo: on an empty m5: " in told


def test_why_the_cheap_kind_was_not_taken(folder: Path) -> None:
    """One asks why the cheap node was not taken: it is told for each kind of which none is added."""
    kinds = ["--add-node", "m5.yaml", "--add-node", "c.yaml", "--add-node", "small.yaml", "--cost", "m5=3,c=0.1,small=2"]
    found = ran("capacity", "dump.yaml", *kinds, "-o", "json", status=1).document
    assert [(one["node"], one["costOfOne"], one["takes"]) for one in found["notTaken"]] == [("c", 0.1, 0), ("small", 2, 4)]
    told = " ".join(ran("capacity", "dump.yaml", *kinds, status=(0, 1)).out.split())
    assert "Add 1 m5, cost 3, for 4 of 6 pods: " in told
    assert "No c, cost 0.1: an empty one does not take 4 of 4 pods, first default/web-0: node(s) had" in told
    assert "No small, cost 2: no mix with it that costs less was found" in told


def test_the_page_says_it(folder: Path) -> None:
    """The page's headline is for the pods that nodes help, and names how many nothing helps."""
    said = ran("capacity", "dump.yaml", "--add-node", "m5.yaml", "--add-node", "c.yaml", "--cost", "m5=3,c=1", "-o", "html", status=1).out
    page = re.sub(r"<[^>]+>", "", said)
    assert "Add 1 m5, cost 3, for 4 of 6 pods: each of them finds a node; 2 find none with up to 6." in page
    assert "What was not taken" in page


def test_what_more_pods_might_help_does_not_spoil_it_either(folder: Path) -> None:
    """A pod that wants to be near a pod that is not there finds no node with any number: the others get their answer, and it is named."""
    term = {"labelSelector": {"matchLabels": {"app": "nothing"}}, "topologyKey": "pool"}
    lonely = pod("lonely", 1, affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    dump = (folder / "dump.yaml").read_text(encoding="utf-8") + "---\n" + yaml.safe_dump(lonely)
    (folder / "dump.yaml").write_text(dump, encoding="utf-8")
    words = ("capacity", "dump.yaml", "--add-node", "m5.yaml")
    text = ran(*words, status=1).out
    assert "Add 1 m5 for 4 of 7 pods: each of them finds a node; 3 find none with up to 7.\n" in text
    assert "  default/lonely: on an empty m5: " in text
    found = ran(*words, "-o", "json", status=(0, 1)).document
    assert ([one["count"] for one in found["added"]], found["withoutNode"]["count"]) == ([1], 3)
    headline = re.sub("<[^>]*>", "", ran(*words, "-o", "html", status=(0, 1)).out.partition("<h1")[2].partition("</h1>")[0])
    assert "Add 1 m5 for 4 of 7 pods: each of them finds a node; 3 find none with up to 7." in headline
    assert "; 3 find none with up to 1." in ran(*words, "--most-nodes", "1", status=(0, 1)).out
