"""Answers as documents for programs: the forms ``json`` and ``yaml``, the same for all commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from ...api.reading.notices import Notice, warning_records
from ...api.record import DocumentRecord, as_document
from ..console.yamltext import write_yaml
from ..report.documents import document, document_text, indented

DOCUMENT_FORMS = ("json", "yaml")


def write_document(
    form: str, kind: str, record: Mapping[str, Any], stream: IO[str], *, warnings: Iterable[Notice] | None = None, long: str = ""
) -> None:
    """Write *record* as a document of *kind* in *form*, one of :data:`DOCUMENT_FORMS`.

    *warnings*: those of the input, where it is an answer about one; *long*: as for :func:`~..report.documents.indented`.

    >>> import sys
    >>> write_document("yaml", "Bench", {"nodes": 3}, sys.stdout)
    apiVersion: kubeclassic/v1
    kind: Bench
    nodes: 3
    """
    if warnings is not None:
        record = {"warnings": warning_records(warnings), **record}
    if form == "yaml":
        write_yaml(document(kind, record), stream)
    else:
        stream.write(indented(document(kind, record), long=long) + "\n")


def write_answer(form: str, answer: DocumentRecord, stream: IO[str]) -> None:
    """Write *answer* as its document in *form*, one of :data:`DOCUMENT_FORMS`."""
    if form == "yaml":
        write_yaml(as_document(answer), stream)
    else:
        stream.write(document_text(answer) + "\n")
