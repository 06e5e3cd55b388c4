"""Errors in the file of a sweep: where, what was got, what was wanted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ....api.reading.fields import shown
from ....exceptions import ManifestError, did_you_mean

_LONGEST = 100
"""Characters of a list or an object that is shown as it is."""


def refuse(where: str, got: Any, wanted: str, near: str = "") -> NoReturn:
    """Raise the error that *where* has *got*."""
    raise ManifestError(f"{where}: got {_told(got)}, wanted {wanted}{near}")


def _told(got: Any) -> str:
    text = json.dumps(got, default=repr) if isinstance(got, list | tuple | dict) else ""
    return text if 0 < len(text) <= _LONGEST else shown(got)


def check_keys(where: str, given: Any, known: Iterable[str]) -> Mapping[str, Any]:
    """*given*, which must be an object with *known* keys alone."""
    names = tuple(known)
    if not isinstance(given, Mapping):
        refuse(where, given, f"an object with {', '.join(names)}")
    for key in given:
        if key not in names:
            refuse(where, key, f"one of {', '.join(names)}", did_you_mean(str(key), names))
    return given
