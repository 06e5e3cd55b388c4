"""``kubeclassic releases`` from the outside."""

from __future__ import annotations

import json

from click.testing import CliRunner

from kubeclassic.cli.releases import releases


def run(*arguments):
    """The command's result."""
    return CliRunner().invoke(releases, arguments)


class TestReleases:
    def test_list(self):
        """Without arguments the releases are listed, oldest first."""
        assert run().stdout.split() == ["1.12", "1.13", "1.14", "1.15", "1.16"]

    def test_one(self):
        """A release is described by tables; predicates stand in running order."""
        lines = run("v1.16").stdout.splitlines()
        assert lines[0].split() == ["PREDICATES", "IN", "RUNNING", "ORDER"]
        assert lines[1] == "CheckNodeCondition                default without TaintNodesByCondition"
        assert any(line.startswith("volumes: checks phase") and line.endswith("yes") for line in lines)

    def test_diff(self):
        """--diff shows what differs; unimportant gates only when asked for."""
        assert "behaviour    pick host" in run("--diff", "1.15", "1.16").stdout
        assert "AppArmor" not in run("--diff", "1.15", "1.16").stdout
        assert "IPv6DualStack" in run("--diff", "1.15", "1.16", "--all-gates").stdout
        assert run("--diff", "1.15", "1.15").stdout == "1.15 and 1.15 are the same\n"

    def test_diff_as_json(self):
        """-o json gives every difference with both sides."""
        found = json.loads(run("--diff", "1.12", "1.13", "-o", "json").stdout)
        assert {"about": "behaviour", "what": "volumes.checks_phase", "before": False, "after": True} in found

    def test_both(self):
        """A release and --diff together are bad usage."""
        assert run("1.16", "--diff", "1.15", "1.16").exit_code == 2
