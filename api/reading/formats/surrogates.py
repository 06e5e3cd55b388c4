"""Half characters: ``\\ud800`` means nothing by itself, and no encoding has it. Upstream reads U+FFFD instead."""

from __future__ import annotations

import re
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Any) -> Any:
    """*value*, read from JSON, with U+FFFD for every half character in its texts and keys.

    >>> without_surrogates({"a": ["x\\ud800"]}) == {"a": ["x\\ufffd"]}
    True
    """
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        value[:] = map(without_surrogates, value)
    elif isinstance(value, dict):
        for key in list(value):
            value[without_surrogates(key)] = without_surrogates(value.pop(key))
    return value
