"""Answers as documents for programs: the forms ``json`` and ``yaml``, the same for all commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from ..console.yamltext import write_yaml
from ..report.documents import document, indented

DOCUMENT_FORMS = ("json", "yaml")


def write_document(form: str, kind: str, record: Mapping[str, Any], stream: IO[str], *, long: str = "") -> None:
    """Write *record* as a document of *kind* in *form*, one of :data:`DOCUMENT_FORMS`; *long*: as for :func:`~..report.documents.indented`.

    >>> import sys
    >>> write_document("yaml", "Bench", {"nodes": 3}, sys.stdout)
    apiVersion: kubeclassic/v1
    kind: Bench
    nodes: 3
    """
    if form == "yaml":
        write_yaml(document(kind, record), stream)
    else:
        stream.write(indented(document(kind, record), long=long) + "\n")
