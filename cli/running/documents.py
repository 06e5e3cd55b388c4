"""Answers as documents for programs: the forms ``json`` and ``yaml``, the same for all commands."""

from __future__ import annotations

from typing import IO

from ...api.record import DocumentRecord, as_document
from ..console.yamltext import write_yaml
from ..report.documents import document_text

DOCUMENT_FORMS = ("json", "yaml")


def write_answer(form: str, answer: DocumentRecord, stream: IO[str]) -> None:
    """Write *answer* as its document in *form*, one of :data:`DOCUMENT_FORMS`."""
    if form == "yaml":
        write_yaml(as_document(answer), stream)
    else:
        stream.write(document_text(answer) + "\n")
