"""What ``import kubeclassic`` gives, and what it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kubeclassic

HEAVY = ("numpy", "yaml", "click", "rich")


@pytest.mark.parametrize("name", kubeclassic.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """Each public name leads somewhere, and is listed by ``dir``."""
    assert getattr(kubeclassic, name) is not None
    assert name in dir(kubeclassic)


def test_nothing_else_is_public() -> None:
    """The names are those that the package itself says where to find, and the version."""
    assert set(kubeclassic.__all__) == {*kubeclassic._HOME_OF, "__version__"}
    with pytest.raises(AttributeError, match=r"has no attribute 'Clutser'$"):
        _ = kubeclassic.Clutser


def test_importing_is_cheap() -> None:
    """The import alone loads neither numpy nor anything else that takes its time."""
    place = str(Path(kubeclassic.__path__[0]) / "__init__.py")
    script = (
        "import sys, importlib.util as u;"
        f"spec = u.spec_from_file_location('kubeclassic', {place!r}, submodule_search_locations=[]);"
        "module = u.module_from_spec(spec); sys.modules['kubeclassic'] = module; spec.loader.exec_module(module);"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert "kubeclassic" in loaded
    assert not set(HEAVY) & set(loaded)
