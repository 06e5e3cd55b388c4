"""Scaling raw scores to 0 to 10."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.priorities.rule import normalize_reduce
from tests.support.build import engine, node, pod

CYCLE = engine(node("a")).begin(pod("p"))
RAW = st.lists(st.integers(0, 2**31), min_size=1, max_size=6)


def scaled(*raw, best=10, reverse=False):
    """The scores as a list; the step looks at nothing but them."""
    step = normalize_reduce(best, reverse=reverse)
    return step(CYCLE.template, np.array(raw, np.int64), Batch(CYCLE.table), CYCLE).tolist()


class TestNormalizeReduce:
    def test_another_best_score(self):
        """The best score may be any number."""
        assert scaled(1, 4, best=100) == [25, 100]

    def test_no_nodes(self):
        """Nothing in, nothing out."""
        assert scaled() == []

    @given(raw=RAW)
    def test_is_what_whole_numbers_give(self, raw):
        """Ten times the score by the greatest, rounded down."""
        greatest = max(raw)
        wanted = [10 * score // greatest if greatest else 0 for score in raw]
        assert scaled(*raw) == wanted
        assert scaled(*raw, reverse=True) == [10 - score for score in wanted]
