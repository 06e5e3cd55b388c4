"""README's commands after README's install: nothing that they need is in an extra."""

import pytest

from kubeclassic import simulate
from kubeclassic.core.devices import claimjudging
from kubeclassic.exceptions import KubeclassicError
from tests.conftest import CLUSTER
from tests.support.program import ran


@pytest.fixture(autouse=True)
def without_cel(monkeypatch):
    """The extra ``devices`` is not installed."""

    def missing():
        raise KubeclassicError(claimjudging.MISSING)

    monkeypatch.setattr(claimjudging, "_environment", missing)
    claimjudging.compiled.cache_clear()


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--release", "1.34"),
        ("upgrade", "--from", "1.16", "--to", "1.34"),
        ("simulate", "--release", "auto"),
    ],
)
def test_the_example_cluster_needs_no_extra(words):
    """The claims of the example are judged by every release, as they compare texts."""
    assert "kubeclassic[devices]" not in ran(words[0], CLUSTER, *words[1:], status=(0, 1)).err


def test_python_needs_none_either():
    """README's lines of Python."""
    assert simulate(CLUSTER, "1.34").hosts["shop/orders-0"]
