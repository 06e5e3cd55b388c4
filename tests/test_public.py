"""The names that ``import kubeclassic`` gives, and its cost."""

import subprocess
import sys

import pytest

import kubeclassic
from kubeclassic import options, plugins, results, rules, traces
from tests.support.program import FIND

HEAVY = ("numpy", "yaml", "click", "rich")


MODULES = (kubeclassic, options, plugins, results, rules, traces)
NAMES = [(module, name) for module in MODULES for name in module.__all__]


@pytest.mark.parametrize("module, name", NAMES, ids=[f"{module.__name__}.{name}" for module, name in NAMES])
def test_every_public_name_is_there(module, name):
    """Each public name leads somewhere, is listed by ``dir``, and is in one module alone."""
    assert getattr(module, name) is not None
    assert name in dir(module)
    assert [other for other in MODULES if name in other.__all__] == [module]


@pytest.mark.parametrize("module", MODULES)
def test_nothing_else_is_public(module):
    """A name that is not in the table of the module is an AttributeError."""
    with pytest.raises(AttributeError, match=rf"^module '{module.__name__}' has no attribute 'clutser'$"):
        _ = module.clutser


def test_all_are_imported_at_once():
    """``from kubeclassic.plugins import *`` gives the public names, and nothing else."""
    names = {}
    exec("from kubeclassic.plugins import *", names)
    assert sorted(set(names) - {"__builtins__"}) == plugins.__all__


def test_importing_is_cheap():
    """The import alone loads neither numpy nor anything else that takes its time."""
    script = f"{FIND}\nimport kubeclassic.rules; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert {name for name in loaded if name.startswith("kubeclassic")} == {
        "kubeclassic",
        "kubeclassic.exports",
        "kubeclassic.rules",
    }
    assert not set(HEAVY) & set(loaded)
