"""What tests of commands share: a command line that is run, and manifests in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from kubeclassic.cli import run

Ran: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Ran:
    """Runs a command line: exit status, standard output, standard error."""

    def running(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return run(words), *capsys.readouterr()

    return running


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes manifests to a file; its path."""

    def written(name: str, *documents: Any) -> str:
        (tmp_path / name).write_text(yaml.safe_dump_all(documents), encoding="utf-8")
        return str(tmp_path / name)

    return written
