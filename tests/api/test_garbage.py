"""The garbage collector while a question is answered."""

import gc
import weakref

from kubeclassic.api.garbage import settled


class Cyclic:
    def __init__(self):
        self.itself = self


def test_runs_inside_of_a_question_leave_nothing_behind():
    """As the schedulers of a sweep, which are cyclic: each goes while the next ones run."""
    left = []
    with settled():
        for _ in range(2):
            with settled():
                left.append(weakref.ref(Cyclic()))
        gc.collect()
        assert [one() for one in left] == [None, None]
