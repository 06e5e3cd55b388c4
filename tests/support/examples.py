"""The number of Hypothesis examples of a test, as a multiple of the profile's; and the releases that stand
for all."""

import math

from hypothesis import settings

ENDS = ("1.12", "1.16", "1.17", "1.22", "1.23", "1.27", "1.36")
"""The first and the last release with predicates, with plugins under a Policy, and with plugins alone, and
the base of all tables."""


def examples(factor, **other):
    """Settings with *factor* times the profile's number of examples, rounded up; *other*: more settings."""
    return settings(max_examples=math.ceil(settings.default.max_examples * factor), **other)
