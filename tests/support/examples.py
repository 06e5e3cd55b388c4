"""How many examples a test by Hypothesis tries: the profile's count, times what the test needs; and which
releases stand for all."""

import math

from hypothesis import settings

ENDS = ("1.12", "1.16", "1.17", "1.22", "1.23", "1.27", "1.36")
"""The first and the last release with predicates, with plugins under a Policy, and with plugins alone, and
the base of all tables."""


def examples(factor, **other):
    """Settings with *factor* times as many examples as the profile has, rounded up; *other*: more
    settings."""
    return settings(max_examples=math.ceil(settings.default.max_examples * factor), **other)
