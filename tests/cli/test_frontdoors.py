"""Python and the command line answer alike: ``record()`` is what ``-o json`` prints, and ``ok`` is the exit status."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import kubeclassic
from kubeclassic import Classic, Framework
from kubeclassic.cli import run
from tests.cli.conftest import Ran
from tests.conftest import ROOT
from tests.support.consoleblocks import Example, examples_of
from tests.support.golden import COMMANDS, kept

SMALL, BIG = (str(ROOT / "examples" / "capacity" / name) for name in ("small-pod.yaml", "big-node.yaml"))
CLUSTER, GANG = str(ROOT / "examples" / "cluster"), ROOT / "examples" / "gang"
RELEASES: list[Any] = [None, "1.12", "1.16", "1.27", "1.34"]
LOW = {
    "kind": "Pod", "metadata": {"name": "low", "ownerReferences": [{"kind": "ReplicaSet", "name": "low", "uid": "u", "controller": True}]},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]},
}  # fmt: skip


def assert_same(found: Any, capsys: pytest.CaptureFixture[str], command: str, *arguments: str) -> None:
    """The result of a function has the document and the exit status of *command*."""
    status = run([command, *arguments, "-o", "json"])
    printed = json.loads(capsys.readouterr().out)
    assert {**found.record(), "apiVersion": printed["apiVersion"], "kind": printed["kind"]} == printed
    assert list(printed)[2:] == list(found.record())
    assert found.ok == (status == 0)


def flags(release: str | None) -> list[str]:
    """The option of a release."""
    return [] if release is None else ["--release", release]


class TestSimulate:
    @pytest.mark.parametrize("release", RELEASES)
    def test_a_cluster(self, release: str | None, capsys: pytest.CaptureFixture[str]) -> None:
        """Outcomes, cycles, reasons and use are the same, with the reasons and scores of each cycle too."""
        assert_same(kubeclassic.simulate(CLUSTER, release, details=True), capsys, "simulate", CLUSTER, "--details", *flags(release))

    def test_pods_that_wait_on_permit(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A pod that Permit plugins make wait is not placed: the answer is no, although it has a node."""
        cluster, profile = GANG / "cluster.yaml", GANG / "profile.yaml"
        rules = f"{GANG / 'gang.py'}:Gang"
        arguments = [str(cluster), "--profile", str(profile), "--rules", rules, "--set", "node * allocatable.cpu=1"]
        assert run(["simulate", *arguments, "-o", "json"]) == 1
        assert json.loads(capsys.readouterr().out)["summary"]["waiting"]

    @pytest.mark.parametrize("again", [False, True])
    def test_evictions(self, again: bool, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
        """Evicted pods are gone in both, or made again in both."""
        file = tmp_path / "cluster.json"
        status = {"allocatable": {"cpu": "3", "pods": "10"}}
        bound = {**LOW, "spec": {**LOW["spec"], "nodeName": "a"}}
        high = {**LOW, "metadata": {"name": "high"}, "spec": {**LOW["spec"], "priority": 5}}
        items = [{"kind": "Node", "metadata": {"name": "a"}, "status": status}, bound, high]
        file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
        found = kubeclassic.simulate(file, reschedule_evicted=again)
        assert found.summary.replaced == again
        assert_same(found, capsys, "simulate", str(file), *(["--reschedule-evicted"] if again else []))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("pod", "node"),
    [("analytics/yearly-report", None), ("deploy/storefront", None), ("shop/orders-0", "general-a1"), ("orders-0", "gpu-b1")],
)
def test_explain(pod: str, node: str | None, release: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    """Decision, nodes, reasons and the close-up are the same."""
    found = kubeclassic.explain(CLUSTER, pod, release, node=node)
    assert_same(found, capsys, "explain", CLUSTER, pod, *flags(release), *(["--node", node] if node else []))


@pytest.mark.parametrize("pod", ["analytics/yearly-report", "deploy/storefront", "shop/orders-0"])
@pytest.mark.parametrize("releases", [("1.16", "1.17"), ("1.28", "1.34")])
def test_explain_releases(pod: str, releases: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Decisions, nodes that differ and facts are the same."""
    found = kubeclassic.explain_releases(CLUSTER, pod, *releases)
    assert_same(found, capsys, "explain", CLUSTER, pod, "--release", ",".join(releases))


@pytest.mark.parametrize("release", ["1.16", "1.27"])
@pytest.mark.parametrize(("pod", "want"), [("yearly-report", None), ("storefront-bj5tsk7t55-0", None), ("orders-0", "gpu-b1")])
def test_what_if(pod: str, want: str | None, release: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What keeps the pod away and what would help are the same."""
    found = kubeclassic.what_if(CLUSTER, pod, release, want=want)
    assert_same(found, capsys, "explain", CLUSTER, pod, *flags(release), *(["--want", want] if want else ["--what-if"]))


def test_options_go_along(capsys: pytest.CaptureFixture[str]) -> None:
    """Options of the scheduler, edits and orders mean the same."""
    edit = "pod shop/* requests.cpu=3"
    weight = ["--release", "1.14", "--hard-pod-affinity-symmetric-weight", "9"]
    for scheduler, more in ((Classic(release="1.14", hard_pod_affinity_weight=9), weight), (Framework(), ["--release", "1.27"])):
        arguments = [*more, "--set", edit, "--order", "priority"]
        found = kubeclassic.simulate(CLUSTER, scheduler, edits=edit, order="priority")
        assert_same(found, capsys, "simulate", CLUSTER, *arguments)


@pytest.mark.parametrize("mode", ["locked", "free"])
@pytest.mark.parametrize(("a", "b"), [("1.12", "1.16"), ("1.16", "1.34"), ("1.15", "1.15")])
def test_compare(a: str, b: str, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Decisions, causes and correlations are the same, however a release is given."""
    assert_same(kubeclassic.compare(CLUSTER, a, b, mode=mode), capsys, "compare", CLUSTER, "--a", a, "--b", b, "--mode", mode)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: kubeclassic.capacity(CLUSTER, SMALL), ["capacity", CLUSTER, "--pod", SMALL]),
        (lambda: kubeclassic.capacity_curve(CLUSTER, "cpu=1..4:2"), ["capacity", CLUSTER, "--curve", "cpu=1..4:2"]),
        (lambda: kubeclassic.add_nodes(CLUSTER, BIG), ["capacity", CLUSTER, "--add-node", BIG]),
        (
            lambda: kubeclassic.drain(CLUSTER, auto=True, ignore_daemonsets=True, force=True, keep=1),
            ["drain", CLUSTER, "--auto", "--ignore-daemonsets", "--force", "--keep", "1"],
        ),
    ],
    ids=["capacity", "curve", "add-node", "drain"],
)
def test_planning(made: Callable[[], Any], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Counts, curves, new nodes and drains are the same."""
    assert_same(made(), capsys, *words)


@pytest.mark.parametrize("name", [
    "simulate-nodes", "explain-node", "explain-releases", "what-if", "capacity", "curve", "add-node-mix", "drain", "compare", "upgrade",
    "releases",
])  # fmt: skip
def test_one_document_in_each_form(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran) -> None:
    """YAML holds what JSON holds, and --output puts into a file what would be on standard output."""
    monkeypatch.chdir(ROOT)
    words, (status, _, text) = shlex.split(COMMANDS[name]), kept(name).partition("\n")
    assert yaml.safe_load(ran(*words, "-o", "yaml")[1]) == json.loads(text)
    if words[0] != "releases":
        assert ran(*words, "--output", str(tmp_path / "found"))[:2] == (int(status), "")
        assert (tmp_path / "found").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("example", list(examples_of((ROOT / "docs" / "guides" / "capacity.md").read_text(encoding="utf-8"))))
def test_the_guide_of_capacity(example: Example, ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the page ends with status 0, and what it prints on standard output is shown there."""
    monkeypatch.chdir(ROOT)
    status, out, _ = ran(*shlex.split(example.command)[1:])
    assert (status, out.rstrip("\n")) == (0, example.printed)
