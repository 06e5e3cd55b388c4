"""``kubeclassic compare``: configurations in words, forms, exit statuses."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.cli import run
from kubeclassic.cli.configurations import KEYS, Wanted
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.simulation.causes import KINDS

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = str(ROOT / "examples" / "cluster")
POLICY = ROOT / "examples" / "policies" / "kubernetes-classic.json"
OTHER = ("--a", "release=1.16", "--b", "release=1.27")


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What ``compare`` of the example cluster writes."""
    capsys.readouterr()
    assert run(["compare", CLUSTER, *arguments]) in (0, 1)
    return capsys.readouterr().out


class TestExitStatus:
    def test_the_same(self, capsys: pytest.CaptureFixture[str]) -> None:
        """0 says that all decide alike."""
        assert run(["compare", CLUSTER, "--a", "release=1.15", "--b", "release=v1.15.3"]) == 0
        assert "all decisions are the same" in capsys.readouterr().out

    def test_different(self, capsys: pytest.CaptureFixture[str]) -> None:
        """1 says that they do not."""
        assert run(["compare", CLUSTER, *OTHER]) == 1
        assert "decisions differ" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("polcy=x", 'did you mean "policy"'),
            ("release", "wanted KEY=VALUE"),
            ("release=1.15 release=1.16", "got release twice"),
            ("release=1.11", "1.11"),
            ("release='1.15", "no closing quotation"),
            ("release=1.16 profile=x.yaml", "got profile, which release 1.16 has not"),
            ("release=1.27 policy=x.json", "got policy, which release 1.27 has not"),
            ("release=1.27 percentage=many", "wanted a number"),
            ("tie-break=coin", "wanted release, round-robin, first, random"),
            ("release=1.16 policy=absent.json", "absent.json"),
            ("profile=absent.yaml", "absent.yaml"),
            ("release=1.27 percentage=101", "not in valid range"),
        ],
    )
    def test_bad_input(self, text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
        """2 says that a configuration is wrong, in one line that says what is."""
        assert run(["compare", CLUSTER, "--a", "release=1.16", "--b", text]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1


class TestConfigurations:
    def test_quotes(self) -> None:
        """Values are quoted as in a shell."""
        found = Wanted.parse("a", "release=1.16 policy='my policy.json' feature-gates=A=true,B=false")
        assert found.values == {"release": "1.16", "policy": "my policy.json", "feature-gates": "A=true,B=false"}

    def test_a_profile_alone_means_the_framework(self) -> None:
        """Where only a profile is given, it is for the release that has profiles."""
        assert Wanted.parse("a", "profile=p.yaml").runs_profiles

    def test_every_key_counts(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """Each key of a configuration changes the scheduler that is made."""
        profile = tmp_path / "a profile.yaml"
        header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        profile.write_text(header + "profiles: [{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}]\n")
        older = Wanted.parse("a", f"release=1.14 policy={POLICY} percentage=30 tie-break=first feature-gates=PodPriority=false").engine()
        assert (older.algorithm.release.version, older.algorithm.percentage, older.algorithm.gates["PodPriority"]) == ("1.14", 30, False)
        assert older.pick_host(3, 1) == (0, False)
        newer = Wanted.parse("b", f"profile='{profile}' percentage=30").engine()
        assert "TaintToleration" not in [predicate.name for predicate in newer.algorithm.predicates]
        assert newer.algorithm.percentage == 30
        packing = Wanted.parse("c", "provider=ClusterAutoscalerProvider").engine()
        assert "MostRequestedPriority" in [priority.name for priority, _ in packing.algorithm.priorities]
        with pytest.raises(UnknownNameError):
            Wanted.parse("a", "seed=1")
        assert len(KEYS) == 8


def cells(html: str) -> list[list[str]]:
    """The rows of all tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, flags=re.DOTALL)] for row in rows]


class TestForms:
    @pytest.mark.parametrize("mode", ["free", "locked"])
    def test_html_says_what_json_says(self, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
        """Each number of ``-o json`` stands in the page: pods, causes, correlations, use and both tables."""
        more = ("--c", "release=1.12 provider=ClusterAutoscalerProvider", "--mode", mode)
        found: dict[str, Any] = json.loads(answered(capsys, *OTHER, *more, "-o", "json"))
        html = answered(capsys, *OTHER, *more, "-o", "html")
        rows = cells(html)
        assert f"{found['pods']} pods, {found['cycles']} cycles, {len(found['differences'])} decisions differ" in html
        for name in ("placed", "unschedulable", "evicted"):
            assert [name, *(str(c["summary"][name]) for c in found["configurations"])] in rows
        for usages in zip(*(c["summary"]["resources"] for c in found["configurations"]), strict=True):
            assert [f"{usages[0]['resource']} use", *(f"{100 * usage['use']:.1f} %" for usage in usages)] in rows
        for against in found["against"]:
            for cause in against["causes"]:
                told = [str(cause["cycles"]), cause["kind"], cause["rule"] or "-", cause["side"] or "-", KINDS[cause["kind"]]]
                assert told in rows
            for line in against["correlation"]:
                value = "-" if line["correlation"] is None else f"{line['correlation']:.3f}"
                assert any(row[0] == line["rule"] and row[-1] == value for row in rows)
            assert f">elsewhere: {len(against['elsewhere'])}<" in html
            assert all([moved["pod"], moved["first"], moved["second"]] in rows for moved in against["elsewhere"])
        for difference in found["differences"]:
            assert any(row[:2] == [str(difference["cycle"]), difference["pod"]] for row in rows)
            for decision in difference["decisions"].values():
                if decision["nodes"] and decision["nodes"][0]["scores"]:
                    assert ["total", *("-" if n["total"] is None else str(n["total"]) for n in decision["nodes"])] in rows

    def test_html_stands_by_itself(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The page fetches nothing and runs nothing, and what users name is escaped."""
        html = answered(capsys, "--a", "release=1.16 tie-break='first'", "--b", "release=1.27", "-o", "html")
        assert not re.search(r"https?:|src=|href=|<script|@import|url\(", html)
        assert html.count("<svg") == html.count("</svg>") == 2
        assert "tie-break=&#x27;first&#x27;" in html

    def test_totals_are_sums(self, capsys: pytest.CaptureFixture[str]) -> None:
        """In both tables a node's total is the sum of its scores, each times its weight."""
        found = json.loads(answered(capsys, *OTHER, "-o", "json"))
        scored = [n for d in found["differences"] for one in d["decisions"].values() for n in one["nodes"] if n["scores"]]
        assert scored
        assert all(node["total"] == sum(score["score"] * score["weight"] for score in node["scores"].values()) for node in scored)
