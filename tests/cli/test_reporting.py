"""``--report``: a page beside the usual output, and what it says of its origin."""

import sys
from pathlib import Path

import pytest

from kubeclassic.cli.answering import about, counts, write_report
from kubeclassic.simulation.scenario import Files, Scenario
from tests.conftest import ROOT
from tests.support.build import node, pod

CLUSTER = ROOT / "examples" / "cluster"


class TestOption:
    def test_whole_or_not_at_all(self, tmp_path):
        """An error while the page is made leaves what was there."""
        file = tmp_path / "page.html"
        file.write_text("old")
        with pytest.raises(ZeroDivisionError):
            write_report(str(file), lambda: str(1 // 0))
        assert file.read_text() == "old"


class TestAbout:
    def test_from_the_command(self, monkeypatch):
        """It has the inputs as given, counts and warnings of the scenario, releases once each, and the words
        of the command line."""
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
        monkeypatch.setattr(sys, "argv", ["/usr/bin/kubeclassic", "simulate", "a b"])
        scenario = Files.read(CLUSTER).scenario()
        found = about(scenario, [Path("a b"), Path("a b")], releases=("1.16", "1.16"), warnings=["odd"])
        assert [*found.inputs] == ["a b"]
        assert found.counts == counts(scenario)
        assert found.warnings[-1] == "odd"
        assert (found.releases, found.command) == (("1.16",), ("kubeclassic", "simulate", "a b"))
        assert f"{found.date:%Y-%m-%d}" == "1970-01-02"

    def test_counts(self):
        """Nodes, pods that run, and pods that wait are counted apart."""
        assert (
            counts(Scenario((node("n"), pod("p", on="n")), (pod("q"), pod("r"))))
            == "1 node, 1 pod runs, 2 pods wait"
        )
