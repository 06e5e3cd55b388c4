"""Trails: which rows changed since a revision, or that any may have."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.rowchanges import ChangeLog
from kubeclassic.core.arrays.trail import MOST_ROWS, NEVER, Trail
from tests.support.build import engine, pod


def rows(*numbers: int) -> list[int]:
    """Row numbers."""
    return list(numbers)


def told(trail: Trail | ChangeLog, revision: int) -> set[int] | None:
    """The rows that changed after *revision*."""
    found = trail.since(revision)
    return None if found is None else {int(row) for row in found}


class TestTrail:
    def test_who_never_looked_looks_at_all(self) -> None:
        """Before the first look any row may have changed."""
        assert told(Trail(), NEVER) is None

    def test_a_reader_gets_the_rows_since_its_revision(self) -> None:
        """Each reader is told what changed after the revision that it has seen."""
        trail = Trail()
        trail.touch(rows(1, 2))
        seen = trail.revision
        trail.touch(rows(2, 5))
        assert (told(trail, 0), told(trail, seen), told(trail, trail.revision)) == ({1, 2, 5}, {2, 5}, set())

    def test_a_reset_makes_all_rows_stale(self) -> None:
        """After a reset earlier readers look at all rows, later ones at what changed since."""
        trail = Trail()
        trail.touch(rows(1))
        before = trail.revision
        trail.reset()
        after = trail.revision
        trail.touch(rows(3))
        assert (told(trail, before), told(trail, after)) == (None, {3})

    def test_many_rows_are_all(self) -> None:
        """A step of more rows than are put right one by one makes all rows stale."""
        trail = Trail()
        trail.touch(range(MOST_ROWS))
        assert told(trail, 0) == set(range(MOST_ROWS))
        trail.touch(range(MOST_ROWS + 1))
        assert told(trail, 0) is None

    @given(steps=st.lists(st.none() | st.frozensets(st.integers(0, 9), min_size=1), max_size=30), limit=st.integers(1, 12))
    def test_nothing_that_changed_is_left_out(self, steps: list[frozenset[int] | None], limit: int) -> None:
        """Whatever is dropped, a reader is told all rows that changed after its revision, or to look at all; the last one's rows stay."""
        trail = Trail(limit=limit)
        revisions = [trail.revision]
        for step in steps:
            if step is None:
                trail.reset()
            else:
                trail.touch(rows(*step))
            revisions.append(trail.revision)
        for number, revision in enumerate(revisions):
            later = steps[number:]
            found = told(trail, revision)
            if None in later:
                assert found is None
            elif found is not None:
                assert found == set().union(*(step for step in later if step is not None))
            else:
                assert sum(len(step) + 1 for step in later if step is not None) > limit // 2


class TestChangeLog:
    def test_it_tells_who_came(self) -> None:
        """A step names the row and, where a pod came, the pod's template."""
        log, template = ChangeLog(), engine().templates.of(pod("p"))
        log.note(3, template)
        log.note(3, None)
        assert log.steps_since(0) == [(3, template), (3, None)]
        assert told(log, 0) == {3}

    @given(rows=st.lists(st.integers(0, 300), min_size=1, max_size=40), back=st.integers(0, 40))
    def test_rows_are_found_alike_by_step_and_by_row(self, rows: list[int], back: int) -> None:
        """However many steps there were, each row that changed is there once, in ascending order."""
        log = ChangeLog()
        for row in rows:
            log.note(row, None)
        seen = max(len(rows) - back, 0)
        assert np.array(log.since(seen)).tolist() == sorted(set(rows[seen:]))

    def test_node_objects_have_a_revision_of_their_own(self) -> None:
        """Pods do not move it; what no row shows moves it and touches no row."""
        log = ChangeLog()
        log.note(1, None)
        assert (log.revision, log.node_revision) == (1, 0)
        log.node_changed(2)
        log.unseen_changed()
        assert (log.revision, log.node_revision, told(log, 1)) == (2, 2, {2})

    def test_the_oldest_steps_are_dropped(self) -> None:
        """Who is further behind than the log reaches is not told what happened, but which rows changed."""
        log = ChangeLog(limit=4)
        for row in range(5):
            log.note(row, None)
        assert (log.steps_since(0), told(log, 1), told(log, 3)) == (None, {1, 2, 3, 4}, {3, 4})
