"""``kubeclassic policy migrate`` from the outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kubeclassic.cli.policy import policy
from kubeclassic.framework.config import load_configuration, read_configuration

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Runs the command with arguments and standard input."""
    return lambda *arguments, stdin="": CliRunner().invoke(policy, ["migrate", *map(str, arguments)], input=stdin)


class TestMigrate:
    def test_standard_output_is_the_profile(self, run: Run) -> None:
        """The profile goes to standard output, and what has no equal to standard error."""
        result = run("-", stdin='{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "EqualPriority", "weight": 3}]}')
        assert result.exit_code == 0
        assert read_configuration(yaml.safe_load(result.stdout)).profiles[0].scheduler_name == "default-scheduler"
        assert "EqualPriority: left out" in result.stderr

    def test_into_a_file(self, run: Run, tmp_path: Path) -> None:
        """With -o the profile is in the file, and standard output stays empty."""
        result = run(EXAMPLES / "policies" / "openshift-labels.json", "-o", tmp_path / "profile.yaml")
        assert (result.exit_code, result.stdout) == (0, "")
        assert load_configuration(tmp_path / "profile.yaml").profiles

    def test_a_refusal_leaves_the_file_alone(self, run: Run, tmp_path: Path) -> None:
        """Where the release refuses the Policy nothing is written, and upstream's text is the error."""
        target = tmp_path / "profile.yaml"
        target.write_text("before")
        result = run("-", "-o", target, stdin='{"predicates": [{"name": "NoSuch"}]}')
        assert "Predicate type not found for NoSuch" in str(result.exception)
        assert target.read_text() == "before"

    def test_a_component_configuration(self, run: Run) -> None:
        """A component configuration brings its Policy, percentage and preemption along."""
        result = run(EXAMPLES / "policies" / "scheduler-config.yaml")
        document = yaml.safe_load(result.stdout)
        assert document["percentageOfNodesToScore"] == 50
        assert document["extenders"][0]["httpTimeout"] == "2s"
        assert "DefaultPreemption" not in json.dumps(document)

    def test_gates(self, run: Run) -> None:
        """Gates decide which rules the old release has, as elsewhere."""
        result = run(EXAMPLES / "policies" / "openshift-3.json", "--release", "1.12", "--feature-gates", "TaintNodesByCondition=false")
        assert result.exit_code == 0
        assert "CheckNodeDiskPressure: conditions are not looked at" in result.stderr

    def test_paths_need_check(self, run: Run) -> None:
        """A second path without --check is a mistake that is told."""
        result = run(EXAMPLES / "policies" / "openshift-3.json", EXAMPLES / "cluster")
        assert result.exit_code == 2
        assert "wanted --check before it" in result.stderr


class TestCheck:
    def test_agreement(self, run: Run) -> None:
        """Where all decisions agree the exit status is 0, and their number is told."""
        result = run(EXAMPLES / "policies" / "openshift-labels.json", "--check", EXAMPLES / "cluster")
        assert result.stderr.splitlines()[0] == "22 decisions: 22 agree, 0 fall elsewhere among equals, 0 differ"
        assert result.exit_code == 0

    def test_differences(self, run: Run) -> None:
        """Each difference is told with both nodes and the reason; exit status 1, and the profile is there all the same."""
        result = run(EXAMPLES / "policies" / "bin-packing.yaml", "--check", EXAMPLES / "cluster")
        different = [line for line in result.stderr.splitlines() if line.startswith("different: ")]
        assert result.exit_code == 1
        assert different
        assert all(" before, " in line and "NodeResourcesFit" in line for line in different)
        assert yaml.safe_load(result.stdout)["profiles"]
