"""The table of a sweep as files: CSV, Parquet and JSON, each written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...api.words import no_formula
from ..replay.outputs import os_errors, replacing, write_parquet
from .journal import SweepOutputError

CSV, PARQUET, JSON = "results.csv", "results.parquet", "sweep.json"
NO_PARQUET = f"no {PARQUET}: pyarrow is not installed (pip install 'kubeclassic[sweep]')"
Row = Mapping[str, Any]


def as_csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """*rows* as CSV with a header; what a row lacks is empty, and texts of several edits are joined by ``; ``.

    >>> print(as_csv(["run", "set"], [{"run": 1}, {"run": 2, "set": ["node a taints-", "node b taints-"]}]), end="")
    run,set
    1,
    2,node a taints-; node b taints-
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([no_formula(cell(row.get(column))) for column in columns] for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """*value* as one cell: lists as text, true and false as in YAML."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value


def write_folder(folder: Path, columns: Sequence[str], rows: Sequence[Row], record: Mapping[str, Any]) -> list[str]:
    """Write the three files to *folder*; answers what there is to say. Raises an error if a file cannot be written."""
    _replace(folder / CSV, as_csv(columns, rows))
    _replace(folder / JSON, json.dumps(record, indent=1) + "\n")
    if find_spec("pyarrow") is None:
        return [NO_PARQUET]
    write_parquet(folder / PARQUET, columns, [_typed(columns, row) for row in rows])
    return []


def _typed(columns: Sequence[str], row: Row) -> list[Any]:
    """The cells of a row for Parquet, where true and false are values of their own."""
    values = (row.get(column) for column in columns)
    return [value if isinstance(value, bool) else cell(value) for value in values]


def _replace(path: Path, text: str) -> None:
    with os_errors(path, SweepOutputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as scratch:
            scratch.write_text(text, encoding="utf-8")
