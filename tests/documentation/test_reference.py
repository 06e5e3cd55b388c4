"""The pages that are made from commands, schemas, configurations and the Python API."""

import inspect
import json
import sys

import click
import pytest

import kubeclassic
from kubeclassic import exceptions, plugins, results, rules, traces
from kubeclassic.cli import cli
from kubeclassic.cli.schema import names, text_of
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))

from making import api, commands, configurations, navigation, releases, schemas
from making.fieldwords import WORDS
from making.outside import Text, with_outside
from making.site import DRAWN


def test_every_option_of_every_command_is_told():
    """The page of a command has each of its options that its help has, and the commands in it."""
    pages = dict(commands.pages())
    for name in cli.commands:
        command = cli.commands[name]
        page = pages[f"reference/commands/{name}.md"]
        shown = [
            option for option in command.params if isinstance(option, click.Option) and not option.hidden
        ]
        assert [option.opts for option in shown if not any(f"{word}" in page for word in option.opts)] == []
        assert all(f"kubeclassic {name} {inner}" in page for inner in getattr(command, "commands", {}))


def test_every_field_of_every_schema_is_told():
    """The page of a schema has a row for each field of the document, and the schema itself."""
    pages = dict(schemas.pages())
    for name in names():
        schema = json.loads(text_of(name))
        page = pages[f"reference/schemas/{name}.md"]
        assert [field for field in schema.get("properties", {}) if f"| `{field}` |" not in page] == []
        assert schema["title"] in page


@pytest.mark.parametrize("module", [kubeclassic, plugins, results, rules, traces])
def test_every_public_name_is_told_once(module):
    """Each public name has one heading on the page of its module."""
    page = dict(api.pages())[f"reference/python/{module.__name__.rpartition('.')[2]}.md"]
    told = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert sorted(told) == [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]


def test_every_error_is_told():
    """The page of errors has all of them, and nothing else of their module."""
    page = dict(api.pages())["reference/python/exceptions.md"]
    told = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    errors = kubeclassic.KubeclassicError.__subclasses__()
    assert set(told) == {error.__name__ for error in errors if error.__module__ == exceptions.__name__}


def test_no_place_in_memory_is_told():
    """A default that is a function or an object stands there as three dots: its address is another one in
    each build."""
    assert [path for path, text in api.pages() if " at 0x" in text] == []
    assert "key: Callable[[Template], Hashable] = ...," in dict(api.pages())["reference/python/rules.md"]


def test_the_words_of_fields_are_used():
    """Each field of a configuration has words, and no words are of a field that is gone."""
    text = "\n".join(text for _, text in configurations.pages())
    assert [name for name, words in WORDS.items() if words not in text] == []
    assert "`requestedToCapacityRatioArguments`" in text
    assert "`podInitialBackoffSeconds`" in text


def test_every_release_and_step_has_a_page():
    """There is a page for each release, and one for each step to the next."""
    pages = dict(releases.pages())
    assert (
        len([path for path in pages if "-to-" in path])
        == len([path for path in pages if "-to-" not in path]) - 2
    )
    assert "equivalence cache" in pages["reference/releases/1.13-to-1.14.md"]


def test_a_new_page_has_a_place():
    """A page that no list names is in the section of its folder, and a new folder is a section."""
    found = navigation.navigation(
        ["index.md", "start.md", "new.md", "guides/new.md", "odd/page.md", "source/a.md"]
    )
    assert {"Questions": ["guides/new.md", "new.md"]} in found
    assert {"Odd": ["odd/page.md"]} in found
    assert "source/a.md" not in str(found)


def test_what_is_listed_is_there():
    """Each page that the lists name is a file, or is made."""
    listed = {page for section in navigation.FIRST.values() for page in section}
    assert [
        page for page in listed if not page.startswith("project/") and not (ROOT / "docs" / page).is_file()
    ] == []


# --- Links --------------------------------------------------------------------------------------------------

# Links that lead out of the documentation.


def rewritten(pages):
    """The pages with their links, and those that they lead to."""
    return with_outside(pages)


def test_a_file_becomes_a_page():
    """A link to a file outside leads to a page with its text; links in code stay."""
    found = rewritten(
        {"guides/a.md": Text("[x](../../LICENSE), `[y](../z)`, [b](b.md#c), [w](https://w)", "docs/guides")}
    )
    assert found["guides/a.md"] == "[x](../source/LICENSE.md), `[y](../z)`, [b](b.md#c), [w](https://w)"
    assert "Apache License" in found["source/LICENSE.md"]


def test_a_folder_becomes_a_list():
    """A link to a folder leads to a list of its files, each with a page."""
    found = rewritten({"a.md": Text("[x](../examples/cluster)", "docs")})
    assert "[nodes.yaml](cluster/nodes.yaml.md)" in found["source/examples/cluster.md"]
    assert "kind: Node" in found["source/examples/cluster/nodes.yaml.md"]


def test_the_diagrams_have_pictures():
    """Each diagram of ARCHITECTURE.md has a picture for the site."""
    diagrams = (ROOT / "ARCHITECTURE.md").read_text().count("```mermaid")
    assert diagrams == len(DRAWN["project/architecture.md"])
