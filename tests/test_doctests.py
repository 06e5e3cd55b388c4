"""The examples in docstrings."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import kubeclassic

MODULES = ["kubeclassic", *(m.name for m in pkgutil.walk_packages(kubeclassic.__path__, "kubeclassic."))]
OURS = [
    name
    for name in MODULES
    if not name.startswith(("kubeclassic.tests", "kubeclassic.build")) and not name.endswith("__main__")
]


def has_examples(name):
    """Whether the source of a module has an example: to look for docstrings in those without takes long."""
    path = Path(kubeclassic.__path__[0]).joinpath(*name.split(".")[1:])
    return ">>> " in (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("name", [name for name in OURS if has_examples(name)])
def test_examples_of(name):
    """The examples in the module's docstrings give what they say."""
    failed, _ = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert not failed
