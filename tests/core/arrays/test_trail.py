"""Logs of steps: what happened since a revision, or that it is not kept."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.columns import ChangeLog, Revisions
from tests.support.build import engine, pod


def told(log, revision):
    """The rows that changed after *revision*."""
    found = log.since(revision)
    return None if found is None else {int(row) for row in found}


@given(steps=st.lists(st.none() | st.lists(st.integers(0, 9)), max_size=30), limit=st.integers(1, 12))
def test_nothing_that_happened_is_left_out(steps, limit):
    """Whatever is dropped, a reader gets all steps after the revision that it has seen, or is told that
    they are not kept."""
    log = Revisions[int](limit=limit)
    revisions = [0]
    taken = []
    for step in steps:
        if step is None:
            log.begin_anew()
            taken.append(-1)
        else:
            log.extend(step)
            taken += step
        revisions.append(log.revision)
        assert log.revision == len(taken)
    for revision in revisions:
        found = log.steps_since(revision)
        later = taken[revision:]
        assert found == later if -1 not in later and len(later) <= limit // 2 else found in (None, later)


# --- Change log ---------------------------------------------------------------------------------------------


def test_it_tells_who_came():
    """A step names the row and, where a pod came, the pod's template."""
    log = ChangeLog()
    template = engine().templates.of(pod("p"))
    log.note(3, template)
    log.note(3, None)
    assert log.steps_since(0) == [(3, template), (3, None)]
    assert told(log, 0) == {3}


@given(rows=st.lists(st.integers(0, 300), min_size=1, max_size=40), back=st.integers(0, 40))
def test_rows_are_found_alike_by_step_and_by_row(rows, back):
    """However many steps there were, each row that changed is there once, in ascending order."""
    log = ChangeLog()
    for row in rows:
        log.note(row, None)
    seen = max(len(rows) - back, 0)
    assert np.array(log.since(seen)).tolist() == sorted(set(rows[seen:]))


def test_node_objects_have_a_revision_of_their_own():
    """Pods do not move it; what no row shows moves it and touches no row."""
    log = ChangeLog()
    log.note(1, None)
    assert (log.revision, log.node_revision) == (1, 0)
    log.node_changed(2)
    log.unseen_changed()
    assert (log.revision, log.node_revision, told(log, 1)) == (2, 2, {2})


def test_the_oldest_steps_are_dropped():
    """A reader that is further behind than the log reaches gets the changed rows, not the steps."""
    log = ChangeLog(limit=4)
    for row in range(5):
        log.note(row, None)
    assert (log.steps_since(0), told(log, 1), told(log, 3)) == (None, {1, 2, 3, 4}, {3, 4})
