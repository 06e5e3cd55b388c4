"""The examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import kubeclassic

MODULES = ["kubeclassic", *(m.name for m in pkgutil.walk_packages(kubeclassic.__path__, "kubeclassic."))]
OURS = [name for name in MODULES if not name.startswith(("kubeclassic.tests", "kubeclassic.build")) and not name.endswith("__main__")]


@pytest.mark.parametrize("name", OURS)
def test_examples_of(name: str) -> None:
    """The examples in the module's docstrings give what they say."""
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert not failed
