"""What ``-o json`` of every question prints about the examples, to the letter."""

from __future__ import annotations

import pytest

from tests.support.golden import COMMANDS, FOLDER, kept, printed


@pytest.mark.parametrize("name", COMMANDS)
def test_it_prints_what_is_kept(name: str) -> None:
    """The exit status and all that the command prints are those of its golden file."""
    assert printed(COMMANDS[name]).splitlines() == kept(name).splitlines()


def test_there_is_a_file_for_each_command() -> None:
    """No file is left over from a command that is gone."""
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.json.gz" for name in COMMANDS}
