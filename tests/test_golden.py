"""The output of every question about the examples with ``-o json``, to the letter, and by its schema."""

import json

import pytest

from tests.support.golden import COMMANDS, FOLDER, kept, printed
from tests.support.schemas import faults, version_of

SCHEMAS = {"add": "new-nodes", "what": "what-if"}
"""First word of the name of a golden file -> its schema, where that is not the same word."""
WHOLE = ("policy-migrate", "policy-check")
"""Schemas that are called as the golden files are."""


@pytest.mark.parametrize("name", COMMANDS)
def test_it_prints_what_is_kept(name):
    """The exit status and all that the command prints are those of its golden file."""
    assert printed(COMMANDS[name]).splitlines() == kept(name).splitlines()


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_as_its_schema_says(name):
    """Each golden file has the fields of the published schema, and no others; for a replay each line has."""
    text = kept(name).partition("\n")[2]
    first = name.partition("-")[0]
    if first == "replay":
        events = list(map(json.loads, text.splitlines()))
        assert len({event["event"] for event in events}) > 10
        assert [fault for event in events for fault in faults("replay-line", event)] == []
        return
    schema = next((whole for whole in WHOLE if name.startswith(whole)), SCHEMAS.get(first, first))
    document = json.loads(text)
    assert faults(schema, document) == []
    assert schema == "policy-migrate" or document["apiVersion"] == version_of(schema)


def test_there_is_a_file_for_each_command():
    """No file is left over from a command that is gone."""
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.json.gz" for name in COMMANDS}
