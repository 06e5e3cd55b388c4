"""Refuses to write over a file that is read, and to write two things to one file, before anything is done."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .output import STANDARD, OutputError

WRITTEN = ("output", "series", "report", "flame_graph", "redact_map", "plot")
"""Parameters that are files to write; every other path is read."""
MANIFESTS = tuple(suffix + packed for suffix in (".yaml", ".yml", ".json", ".jsonl") for packed in ("", ".gz"))


def refuse_same_files(context: click.Context, reads_folders: bool) -> None:
    """Raise :class:`~.output.OutputError` if the command would write to an input, or twice to one file.

    With *reads_folders* every manifest in a folder that is given is an input.
    """
    outputs = [(_flag(param), path) for param, path in _paths(context) if param.name in WRITTEN and _is_replaced(path)]
    inputs = [path for param, path in _paths(context) if param.name not in WRITTEN]
    for place, (flag, path) in enumerate(outputs):
        for given in inputs:
            if _same(path, given) or (reads_folders and _is_found_in(path, given)):
                raise OutputError(f"{flag}: got {path}, which is an input too, wanted another file")
        for other, earlier in outputs[:place]:
            if _same(path, earlier):
                raise OutputError(f"{flag}: got {path}, which is the file of {other} too, wanted another file")


def _paths(context: click.Context) -> Iterator[tuple[click.Parameter, str]]:
    """Each file that the command line names, with its parameter."""
    for param in context.command.params:
        value = context.params.get(param.name or "")
        files = getattr(param.type, "files", None)
        if files is not None:
            yield from ((param, str(path)) for path in files(value))
        elif isinstance(param.type, click.Path) or param.name in WRITTEN:
            yield from ((param, str(path)) for path in _each(value) if str(path) != STANDARD)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _flag(param: click.Parameter) -> str:
    return max(param.opts, key=len)


def _is_replaced(path: str) -> bool:
    """Whether writing replaces what is there: not so with devices and pipes."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return True


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return "\0" not in path + other and os.path.realpath(path) == os.path.realpath(other)


def _is_found_in(path: str, folder: str) -> bool:
    """Whether *path* is a manifest that is there already, in *folder* or below, and not hidden."""
    if not (path.endswith(MANIFESTS) and os.path.isfile(path) and os.path.isdir(folder)):
        return False
    real, above = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return real.is_relative_to(above) and not any(part.startswith(".") for part in real.relative_to(above).parts)
