"""``--report``: a page beside the usual output, and what it says of its origin."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kubeclassic.cli.answering import about, counts, write_report
from kubeclassic.cli.console.output import OutputError
from kubeclassic.cli.declaring.commands import command
from kubeclassic.cli.declaring.outputs import takes_report
from kubeclassic.simulation.scenario import Scenario, read_scenario
from tests.conftest import ROOT
from tests.support.build import node, pod

CLUSTER = ROOT / "examples" / "cluster"


@command()
@click.argument("path", type=click.Path(path_type=Path))
@takes_report
def made(path: Path, report: str | None) -> None:
    """A command that makes a page."""
    write_report(report, lambda: "<p>page</p>")
    click.echo("done")


class TestOption:
    def test_the_page_stands_beside_the_output(self, tmp_path: Path) -> None:
        """The page goes to its file; the output is as ever, and without the option nothing is written."""
        file = tmp_path / "page.html"
        assert CliRunner().invoke(made, ["in.yaml", "--report", str(file)]).output == "done\n"
        assert file.read_text() == "<p>page</p>\n"
        assert CliRunner().invoke(made, ["in.yaml"]).output == "done\n"

    def test_an_input_is_refused(self, tmp_path: Path) -> None:
        """A page does not replace what is read."""
        file = tmp_path / "in.yaml"
        file.write_text("{}")
        with pytest.raises(OutputError):
            CliRunner().invoke(made, [str(file), "--report", str(file)], catch_exceptions=False)
        assert file.read_text() == "{}"

    def test_whole_or_not_at_all(self, tmp_path: Path) -> None:
        """An error while the page is made leaves what was there."""
        file = tmp_path / "page.html"
        file.write_text("old")
        with pytest.raises(ZeroDivisionError):
            write_report(str(file), lambda: str(1 // 0))
        assert file.read_text() == "old"


class TestAbout:
    def test_from_the_command(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It has the inputs as given, counts and warnings of the scenario, releases once each, and the words of the command line."""
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubeclassic", "simulate", "a b"])
        scenario = read_scenario(CLUSTER)
        found = about(scenario, [Path("a b"), Path("a b")], releases=("1.16", "1.16"), warnings=["odd"])
        assert [*found.inputs] == ["a b"]
        assert found.counts == counts(scenario)
        assert found.warnings[-1] == "odd"
        assert (found.releases, found.command) == (("1.16",), ("kubeclassic", "simulate", "a b"))
        assert f"{found.date:%Y-%m-%d}" == "1970-01-02"

    def test_counts(self) -> None:
        """Nodes, pods that run, and pods that wait are counted apart."""
        assert counts(Scenario((node("n"), pod("p", on="n")), (pod("q"), pod("r")))) == "1 node, 1 pod runs, 2 pods wait"
