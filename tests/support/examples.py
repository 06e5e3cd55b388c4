"""How many examples a test by Hypothesis tries: the profile's count, times what the test needs."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import settings


def examples(factor: float, **other: Any) -> settings:
    """Settings with *factor* times as many examples as the profile has, rounded up; *other*: more settings."""
    return settings(max_examples=math.ceil(settings.default.max_examples * factor), **other)
