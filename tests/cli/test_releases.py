"""``kubeclassic releases`` from the outside."""

import pytest
from click.testing import CliRunner

from kubeclassic.cli.releases import releases
from kubeclassic.framework.releases import ALL_PATCH_LEVELS, ALL_RELEASES


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal that is wide enough for tables."""
    monkeypatch.setattr("kubeclassic.cli.report.tables.width_of", lambda stream: 200)


def run(*arguments):
    """The command's result."""
    return CliRunner().invoke(releases, arguments)


def test_list():
    """Without arguments all releases are listed, oldest first, each with its patch level."""
    lines = run().stdout.partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == ["RELEASE", *ALL_RELEASES]
    assert all(like in line for line, like in zip(lines[1:], ALL_PATCH_LEVELS.values(), strict=True))
    defaults = [line.rpartition("   ")[2] for line in lines[1:] if not line.endswith("-")]
    assert defaults == ["with a Policy", "if no node says one"]


def test_all_gates_of_no_release():
    """``--all-gates`` shows nothing more in the list."""
    assert "--all-gates needs RELEASE or --diff" in run("--all-gates").stderr


def test_other_patch_levels():
    """Where late patches are known to decide otherwise, the list and the release say so: 1.19 under a
    Policy."""
    told = "1.19.8 and later let pods preempt others under a Policy, too."
    assert told in run().stdout.splitlines()
    assert run("1.19").stdout.startswith(f"Release 1.19 (as 1.19.0-rc.4) runs plugins. {told}\n")
    assert run("1.24").stdout.startswith("Release 1.24 (as 1.24.16) runs plugins.\n")


def test_one():
    """A release is described by tables; predicates stand in running order."""
    lines = run("v1.16").stdout.splitlines()
    assert lines[2].split() == ["PREDICATES", "IN", "RUNNING", "ORDER"]
    assert lines[3] == "CheckNodeCondition                default without TaintNodesByCondition"
    assert "WHAT 1.16 DOES DIFFERENTLY" in lines


def test_one_with_plugins():
    """A release of the framework is described by its plugins, with their extension points and weights."""
    (line,) = (line for line in run("1.27").stdout.splitlines() if line.startswith("TaintToleration "))
    assert line.split("   ")[-1].strip() == "filter, preScore, score"
    assert "default, weight 3" in line


def test_diff():
    """--diff shows what differs; unimportant gates only when asked for."""
    told = run("--diff", "1.15", "1.16").stdout
    assert "WHAT 1.16 DOES DIFFERENTLY\n" in told
    assert "AppArmor" not in told
    assert "IPv6DualStack" in run("--diff", "1.15", "1.16", "--all-gates").stdout
    assert run("--diff", "1.15", "1.15").stdout == "1.15 and 1.15 are the same\n"


def test_diff_of_the_framework():
    """Gates of the framework are told with what they decide, plugins with how they run."""
    lines = [" ".join(line.split()) for line in run("--diff", "1.27", "1.36").stdout.splitlines()]
    assert "PodLevelResources - on, BETA whether the requests of the pod as a whole count" in lines
    assert "SelectorSpread named by a profile -" in lines
    assert run("--diff", "1.16", "1.36").exit_code == 0
