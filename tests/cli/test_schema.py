"""``kubeclassic schema``: the schemas are listed and printed, and can refuse."""

import json

import pytest
from jsonschema import Draft202012Validator

from kubeclassic.api.record import API_VERSION
from kubeclassic.cli import run
from kubeclassic.cli.schema import names
from tests.conftest import ROOT
from tests.support.program import ran
from tests.support.schemas import faults, strict, version_of


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
    """The check can fail: a missing field, a wrong type and an unknown field are faults, each with its place."""
    line = {"pod": "shop/web", "host": None, "error": None, "preemption": None, "retry": False, "final": True}
    assert faults("simulate-line", line) == []
    assert faults("simulate-line", {**line, "host": 7}) == [
        "$.host: 7 is not valid under any of the given schemas"
    ]
    assert len(faults("simulate-line", {**line, "more": 1})) == 1
    assert len(faults("simulate-line", {})) == 6


def test_published_schemas_leave_room():
    """A field that is added later breaks no reader; only the tests are strict."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
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
