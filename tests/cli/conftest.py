"""What tests of commands share: a command line with any exit status, and manifests in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from tests.support.program import inside

Ran: TypeAlias = Callable[..., tuple[int, str, str]]


def tried(*words: str) -> tuple[int, str, str]:
    """Run a command line: exit status, standard output, standard error."""
    done = inside(*words, cwd=Path())
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes manifests to a file; its path."""

    def written(name: str, *documents: Any) -> str:
        (tmp_path / name).write_text(yaml.safe_dump_all(documents), encoding="utf-8")
        return str(tmp_path / name)

    return written
