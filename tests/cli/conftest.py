"""What tests of commands share: what a command line is run with, and manifests in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from tests.support.program import Printed

Ran: TypeAlias = Callable[..., Printed]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes manifests to a file; its path."""

    def written(name: str, *documents: Any) -> str:
        (tmp_path / name).write_text(yaml.safe_dump_all(documents), encoding="utf-8")
        return str(tmp_path / name)

    return written
