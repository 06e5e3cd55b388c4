"""What a manifest has that is not read: fields that the API does not have, keys given twice. A warning, or an error under ``--strict``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ...exceptions import ManifestError
from .apifields import api_shape
from .notices import Notice
from .shapes import misnamed


@attrs.define
class Oddities:
    """Takes down what is odd in documents; *is_strict*: refuses it instead."""

    is_strict: bool = False
    notices: list[Notice] = attrs.field(factory=list)

    def note(self, place: object, what: str) -> None:
        """Warn of a mistake, or raise :class:`~kubeclassic.exceptions.ManifestError`."""
        if self.is_strict:
            raise ManifestError(f"{place}: {what}")
        self.notices.append(Notice(str(place), what))

    def note_repeated(self, paths: Iterable[str], place: str) -> None:
        """Note the keys at *paths*, which an object has twice."""
        for path in paths:
            self.note(place, f"{path}: given twice, the last one counts")

    def note_unknown(self, kind: str, data: Mapping[str, Any], place: object) -> None:
        """Note the fields of an object of *kind* that the API does not have."""
        for path, near in misnamed(data, api_shape(kind, data.get("apiVersion"))):
            self.note(place, f"{path}: unknown field{near}")
