"""Records as a DataFrame, of pandas or of polars, whichever is installed. Neither is imported before it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ..exceptions import KubeclassicError, UnknownNameError

LIBRARIES = ("pandas", "polars")
"""The first that is installed is taken."""


def make_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], library: str | None = None) -> Any:
    """A DataFrame with a row for each of *rows* and exactly these *columns*; what a row lacks is missing there.

    *library* is one of :data:`LIBRARIES`; None: the first that is installed. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError` if it is not installed.
    """
    made = {column: [row.get(column) for row in rows] for column in columns}
    found = _library(library)
    return found.DataFrame(made, strict=False) if found.__name__ == "polars" else found.DataFrame(made, columns=list(columns))


def _library(wanted: str | None) -> Any:
    if wanted is not None and wanted not in LIBRARIES:
        raise UnknownNameError(f'library: got "{wanted}", wanted {" or ".join(LIBRARIES)}')
    for name in LIBRARIES if wanted is None else (wanted,):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise KubeclassicError(f"to_frame needs {wanted or 'pandas or polars'}, which is not installed: pip install 'kubeclassic[frames]'")
