"""``kubeclassic policy check`` from the outside."""

from __future__ import annotations

import json

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
        result = run("-", "--release", "1.13", stdin='{"predicates": [{"name": "CheckNodeDiskPressure"}]}')
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.splitlines() == [
            "refused by 1.13: Invalid configuration: Predicate type not found for CheckNodeDiskPressure",
            "warning: CheckNodeDiskPressure is not registered while gate TaintNodesByCondition is on",
        ]

    def test_json(self, run):
        """-o json prints one document, warnings in it."""
        result = run("-", "-o", "json", "--feature-gates", "EvenPodsSpread=true", stdin='{"predicates": [{"name": "EvenPodsSpread"}]}')
        record = json.loads(result.stdout)
        assert [entry["name"] for entry in record["predicates"]][-1] == "EvenPodsSpread"
        assert len(record["warnings"]) == 2
        assert result.stderr == ""
