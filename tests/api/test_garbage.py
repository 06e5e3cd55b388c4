"""The garbage collector while a question is answered."""

import gc
import weakref

from kubeclassic.api.garbage import passing, settled


class Cyclic:
    def __init__(self):
        self.itself = self


def test_runs_inside_of_a_question_leave_nothing_behind():
    """Cyclic garbage, such as the schedulers of a sweep, is collected while the next runs go on."""
    left = []
    with settled():
        for _ in range(2):
            with settled():
                left.append(weakref.ref(Cyclic()))
        gc.collect()
        assert [one() for one in left] == [None, None]


def test_what_a_part_of_a_question_leaves_behind_is_collected_at_its_end():
    """The schedulers of a part of a question are collected at its end, with no collection in between."""
    with settled():
        with passing():
            left = weakref.ref(Cyclic())
            assert not gc.isenabled()
        assert (left(), gc.isenabled()) == (None, True)


def test_a_collector_that_is_off_stays_off():
    """A collector that was off before stays off."""
    gc.disable()
    try:
        with passing():
            left = weakref.ref(Cyclic())
        assert (left() is None, gc.isenabled()) == (False, False)
    finally:
        gc.enable()
