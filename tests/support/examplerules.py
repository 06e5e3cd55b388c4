"""The rules and plugins of the examples, as modules that are forgotten after the test."""

import sys
from importlib import import_module
from types import ModuleType

MODULES = ("examples", "examples.rules", "examples.plugins")


def example_modules(root, monkeypatch):
    """``examples.rules`` and ``examples.plugins``; other tests of the process load them under other names."""
    monkeypatch.syspath_prepend(root)
    for name in MODULES:
        monkeypatch.setitem(
            sys.modules, name, ModuleType(name)
        )  # so that the end of the test removes or restores the name
        del sys.modules[name]
    return import_module(MODULES[1]), import_module(MODULES[2])
