"""``--report``: a page beside the usual output, and what it says of its origin."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from kubeclassic.api.reading.notices import Notice
from kubeclassic.api.record import API_VERSION
from kubeclassic.cli import run
from kubeclassic.cli.answering import about, counts, tell_notices, write_report
from kubeclassic.cli.schema import names
from kubeclassic.simulation.simulate import Files, Scenario
from tests.conftest import ROOT
from tests.support.build import node, pod
from tests.support.program import Terminal, ran
from tests.support.schemas import faults, strict, version_of

CLUSTER = ROOT / "examples" / "cluster"


def test_whole_or_not_at_all(tmp_path):
    """An error while the page is made leaves what was there."""
    file = tmp_path / "page.html"
    file.write_text("old")
    with pytest.raises(ZeroDivisionError):
        write_report(str(file), lambda: str(1 // 0))
    assert file.read_text() == "old"


def test_from_the_command(monkeypatch):
    """The origin has the inputs as given, counts and warnings of the scenario, each release once, and the
    words of the command line."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubeclassic", "simulate", "a b"])
    scenario = Files.read(CLUSTER).scenario()
    found = about(scenario, [Path("a b"), Path("a b")], releases=("1.16", "1.16"), warnings=["odd"])
    assert [*found.inputs] == ["a b"]
    assert found.counts == counts(scenario)
    assert found.warnings[-1] == "odd"
    assert (found.releases, found.command) == (("1.16",), ("kubeclassic", "simulate", "a b"))
    assert f"{found.date:%Y-%m-%d}" == "1970-01-02"


def test_counts():
    """Nodes, pods that run, and pods that wait are counted apart."""
    assert (
        counts(Scenario((node("n"), pod("p", on="n")), (pod("q"), pod("r"))))
        == "1 node, 1 pod runs, 2 pods wait"
    )


# --- Warnings as people see them ----------------------------------------------------------------------------


SAME = [Notice(f"Pod p{i}", "is odd") for i in range(3)]


def test_groups(capsys):
    """Equal ones are one line, and the last line says how to see all."""
    tell_notices([*SAME, Notice("", "no nodes")])
    assert (
        capsys.readouterr().err
        == "warning: Pod p0 and 2 more: is odd\nwarning: no nodes\n(--verbose lists all 4 warnings)\n"
    )


def test_all(capsys):
    """With verbose each is a line."""
    tell_notices(SAME, verbose=True)
    assert capsys.readouterr().err == "".join(f"warning: Pod p{i}: is odd\n" for i in range(3))


def test_nothing_is_hidden_silently(capsys):
    """Where nothing is put together nothing is said of it, and without notices nothing at all."""
    tell_notices([])
    tell_notices(SAME[:1])
    assert capsys.readouterr().err == "warning: Pod p0: is odd\n"
    tell_notices([Notice("Pod n/p", "is odd")], concerns={"Pod n/q"})
    assert capsys.readouterr().err == "(1 warning about other objects: see --verbose)\n"


@pytest.mark.parametrize("columns", [60, 100])
def test_lines_fit_a_terminal(monkeypatch, columns):
    """On a terminal lines are broken between words at its width."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", str(columns))
    tell_notices([Notice("Pod p", "a word " * 40)])
    lines = stream.getvalue().splitlines()
    assert len(lines) > 2
    assert all(len(line) <= columns for line in lines)
    assert " ".join(line.strip() for line in lines) == "warning: Pod p: " + " ".join(["a word"] * 40)


# --- ``kubeclassic schema``: the schemas are listed and printed, and can refuse -----------------------------


def test_they_are_listed():
    """Without a name the command lists the names."""
    assert ran("schema").out.split() == names()
    assert {"simulate", "simulate-line", "replay-line", "conform", "policy-check"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_each_is_a_schema(name):
    """Each is printed as it is published, is a valid schema, says what it is of, and has the version that
    documents carry."""
    schema = ran("schema", name).document
    Draft202012Validator.check_schema(schema)
    assert schema["title"].split()[-1]
    assert schema["$id"].split(":")[:3] == ["urn", "kubeclassic", name]
    assert version_of(name) == API_VERSION


def test_an_unknown_name_is_refused():
    """The nearest names are told."""
    assert ran("schema", "simulat", status=2).err.endswith('did you mean "simulate" or "simulate-line"?\n')


def test_a_wrong_document_is_seen():
    """The check can fail: a missing field, a wrong type and an unknown field are faults, each with its
    place."""
    line = {"pod": "shop/web", "host": None, "error": None, "preemption": None, "retry": False, "final": True}
    assert faults("simulate-line", line) == []
    assert faults("simulate-line", {**line, "host": 7}) == [
        "$.host: 7 is not valid under any of the given schemas"
    ]
    assert len(faults("simulate-line", {**line, "more": 1})) == 1
    assert len(faults("simulate-line", {})) == 6


def test_published_schemas_leave_room():
    """A field that is added later breaks no reader; only the tests are strict."""
    schema = yaml.safe_load("{type: object, properties: {a: {type: integer}}}")
    assert Draft202012Validator(schema).is_valid({"a": 1, "b": 2})
    assert not Draft202012Validator(strict(schema)).is_valid({"a": 1, "b": 2})


@pytest.mark.parametrize(
    "policy", [path.name for path in sorted((ROOT / "examples" / "policies").glob("*.json"))]
)
@pytest.mark.parametrize("more", [[], ["--selector-spread"]])
def test_migrated_policies_are_as_the_schema_says(policy, more, monkeypatch, capsys):
    """The JSON of policy migrate, a KubeSchedulerConfiguration, is as its schema says."""
    monkeypatch.chdir(ROOT / "examples" / "policies")
    status = run(["policy", "migrate", policy, "-o", "json", *more])
    told = capsys.readouterr()
    assert (status, "type not found" in told.err) in ((0, False), (2, True))
    assert status or faults("policy-migrate", json.loads(told.out)) == []
