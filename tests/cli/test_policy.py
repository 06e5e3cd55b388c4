"""``kubeclassic policy check`` from the outside."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from kubeclassic.cli.policy import policy


@pytest.fixture
def run():
    """Runs the command with arguments and standard input."""
    return lambda *arguments, stdin="": CliRunner().invoke(policy, ["check", *arguments], input=stdin)


class TestPolicyCheck:
    def test_accepted(self, run):
        """Standard output has what runs, with order and weights; exit status 0."""
        result = run("-", stdin='{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "EqualPriority", "weight": 3}]}')
        assert result.exit_code == 0
        assert "    2   GeneralPredicates         DefaultProvider" in result.stdout
        assert "EqualPriority        3" in result.stdout

    def test_refused(self, run):
        """A refusal goes to standard error, with its reason; exit status 1."""
        result = run("-", "--release", "1.13", stdin='{"apiVersion": "v1", "predicates": [{"name": "CheckNodeDiskPressure"}]}')
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.splitlines() == [
            "refused by 1.13: standard input: Invalid configuration: Predicate type not found for CheckNodeDiskPressure",
            "warning: CheckNodeDiskPressure is not registered while gate TaintNodesByCondition is on: "
            "--feature-gates TaintNodesByCondition=false registers it",
        ]

    def test_faults_of_a_profile(self, run):
        """Each fault of a profile has a line on standard error; exit status 1."""
        head = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"'
        result = run("-", stdin=head + ', "parallelism": 0, "nope": 1, "podInitialBackoffSeconds": "x"}')
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.splitlines() == [
            'refused by 1.36: standard input: podInitialBackoffSeconds: wrong type, got "x", wanted a whole number',
            "refused by 1.36: standard input: nope: unknown field",
            "refused by 1.36: standard input: parallelism: should be an integer value greater than zero, got 0",
        ]

    def test_a_profile(self, run):
        """What a profile runs is listed, and written as JSON."""
        text = '{"apiVersion": "kubescheduler.config.k8s.io/v1beta1", "kind": "KubeSchedulerConfiguration"}'
        result = run("-", stdin=text)
        assert result.exit_code == 0
        assert "pods of default-scheduler" in result.stdout
        assert "NodePreferAvoidPods" in result.stdout
        record = json.loads(run("-", "-o", "json", "--release", "1.19", stdin=text).stdout)
        assert (record["release"], record["kind"], record["profiles"][0]["schedulerName"]) == ("1.19", "ProfileCheck", "default-scheduler")

    def test_a_page(self, run, tmp_path):
        """-o html and --report write a page of it: the verdict, what runs or every fault, and what never runs first of all."""
        own = '{"name": "Own", "argument": {"serviceAffinity": {"labels": ["r"]}}}'
        text = f'{{"apiVersion": "v1", "predicates": [{own}, {{"name": "HostName"}}]}}'
        result = run("-", "-o", "html", "--report", str(tmp_path / "check.html"), stdin=text)
        assert (result.exit_code, result.stderr) == (0, "")
        page = (tmp_path / "check.html").read_text()
        shown = re.sub(r"<[^>]+>", "", result.stdout)
        assert "1.16 starts with standard input." in shown
        assert shown.index("predicate Own: accepted, but never runs") < shown.index("hardPodAffinitySymmetricWeight 1")
        assert re.sub(r"\d\d:\d\d", "", page) == re.sub(r"\d\d:\d\d", "", result.stdout)
        refused = run("-", "-o", "html", stdin='{"apiVersion": "v1", "predicates": [{"name": "Nope"}, {"name": "Nix"}]}')
        assert refused.exit_code == 1
        assert "Predicate type not found for Nix" in re.sub(r"<[^>]+>", "", refused.stdout)

    def test_json(self, run):
        """-o json prints one document, warnings in it."""
        policy = '{"apiVersion": "v1", "a": 1, "predicates": [{"name": "EvenPodsSpread"}]}'
        result = run("-", "-o", "json", "--feature-gates", "EvenPodsSpread=true", stdin=policy)
        record = json.loads(result.stdout)
        assert [entry["name"] for entry in record["predicates"]][-1] == "EvenPodsSpread"
        assert len(record["warnings"]) == 2
        assert result.stderr == ""
