"""EvenPodsSpreadPriority: soft spread constraints."""

import numpy as np
import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.cycle import PriorityError
from kubeclassic.priorities.evenpodsspread import even_pods_spread
from tests.support.build import engine, node, pod, scored
from tests.support.spreadbuild import NEAR, A, B, incoming, soft

GATES = {"EvenPodsSpread": True}
BARE = node("bare")


def test_an_invalid_selector_that_meets_a_pod_is_an_error():
    """An invalid selector ends the cycle where a pod stands in a candidate's domain, and else goes
    unnoticed."""
    new = incoming(soft(selector=NEAR))
    assert scored(even_pods_spread, new, A, B, pod("p", on="bare"), BARE, gates=GATES) == {
        "a": 10,
        "b": 10,
        "bare": 0,
    }
    with pytest.raises(PriorityError, match=r'^"Near" is not a valid pod selector operator$'):
        scored(even_pods_spread, new, A, B, pod("p", on="a"), gates=GATES)


def test_sums_wrap_at_32_bits():
    """The sum over the candidates is a 32-bit number: past 2147483647 it is negative."""
    cycle = engine(A, B, gates=GATES).begin(incoming(soft()))
    raw = np.array([2**31 - 1, 1], np.int64)
    found = even_pods_spread.reduce(cycle.template, raw, Batch(cycle.table, np.array([0, 1])), cycle)
    total = -(2**31)
    spread = 2**31 - 1
    assert found.tolist() == [int(10.0 * (1 / spread)), int(10.0 * ((total - 1 + 2**32) / spread))]
