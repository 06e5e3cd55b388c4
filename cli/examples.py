"""``kubeclassic examples``: the clusters, policies and rules that the documentation speaks of."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import click

from ..api.words import count_of
from ..exceptions import UnknownNameError
from .console.output import OutputError, note
from .declaring.commands import command
from .declaring.flags import FileName

HERE = Path(__file__).resolve().parent.parent / "examples"


@command(short_help="Write the examples of the documentation to a folder.")
@click.argument("folder", type=FileName(allow_dash=False), default=Path("examples"), metavar="[DIR]")
def examples(folder: Path) -> None:
    """Write the examples of the documentation to the new folder DIR, by default examples.

    Exit status 0: written, 2: DIR exists, or cannot be written.

    \b
    kubeclassic examples
    kubeclassic simulate examples/cluster
    """
    if folder.is_symlink() or folder.exists():
        raise UnknownNameError(f"DIR: expected the name of a new folder, got {folder}, which exists")
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as half:
            copied = shutil.copytree(
                HERE, Path(half, "made"), ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
            os.rename(copied, folder)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}") from None
    files = sum(path.is_file() for path in folder.rglob("*"))
    note(f"{folder}: {count_of(files, 'file')}; begin with: kubeclassic simulate {folder / 'cluster'}")
