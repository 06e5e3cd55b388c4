"""Refusals in tests: the text of the error that a call has to raise."""

import pytest


def refusal_text(kind, ask, *given, **options):
    """The text of the error of *kind* that ``ask(*given, **options)`` raises."""
    with pytest.raises(kind) as caught:
        ask(*given, **options)
    return str(caught.value)
