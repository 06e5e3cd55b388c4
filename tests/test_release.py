"""The files of a release besides code: the list of changes, the citation, the issue templates."""

import re
from configparser import ConfigParser

import pytest
import yaml

import kubeclassic
from tests.support.program import program

KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
VERSION = re.compile(r"^## \[([^]]+)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)
LONGEST = 160


def sections(text, heading):
    """First group of each heading -> the text under it."""
    found = list(heading.finditer(text))
    ends = [later.start() for later in found[1:]] + [len(text)] * bool(found)
    return {match[1]: text[match.end() : end] for match, end in zip(found, ends, strict=True)}


@pytest.fixture(scope="module")
def changes(root):
    """CHANGES.md."""
    return (root / "CHANGES.md").read_text()


def test_versions_are_in_order(changes):
    """First comes what is not released, then the versions, the newest first, each with its date."""
    found = VERSION.findall(changes)
    assert found[0] == ("Unreleased", "")
    versions = [tuple(map(int, version.split("."))) for version, _ in found[1:]]
    dates = [date for _, date in found[1:]]
    assert versions == sorted(versions, reverse=True)
    assert dates == sorted(dates, reverse=True)
    assert all(dates)
    assert len(found) == changes.count("\n## ")


def test_the_version_is_the_newest(changes):
    """The newest version is the package's."""
    assert VERSION.findall(changes)[1][0] == kubeclassic.__version__


def test_changes_are_of_known_kinds(changes):
    """Each change stands under one of the six kinds, in their order, perhaps under a subject; none is
    empty."""
    for version, text in sections(changes, VERSION).items():
        kinds = sections(text, re.compile(r"^### (.*)$", re.MULTILINE))
        assert kinds or version == "Unreleased"
        assert list(kinds) == [kind for kind in KINDS if kind in kinds], version
        for kind, told in kinds.items():
            lines = told.strip().splitlines()
            assert lines, kind
            assert [line for line in lines if line and not line.startswith(("* ", "  ", "#### "))] == []


def test_entries_are_short(changes):
    """No line is long, and each entry ends with a full stop."""
    entries = re.split(r"^\* ", changes, flags=re.MULTILINE)[1:]
    assert [line for line in changes.splitlines() if len(line) > LONGEST] == []
    assert [
        entry for entry in (entry.split("\n\n")[0].strip() for entry in entries) if not entry.endswith(".")
    ] == []


@pytest.fixture(scope="module")
def citation(root):
    """CITATION.cff."""
    return yaml.safe_load((root / "CITATION.cff").read_text())


def test_it_speaks_of_this_version(citation, root):
    """Version and licence are the package's."""
    config = ConfigParser()
    config.read(root / "setup.cfg")
    assert citation["version"] == kubeclassic.__version__
    assert citation["license"] == config["metadata"]["license"]


def test_the_command_says_the_version():
    """``kubeclassic --version`` says the package's version."""
    assert program("--version").stdout == f"kubeclassic {kubeclassic.__version__}\n"
