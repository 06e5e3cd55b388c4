"""The check of what is kept: silent where all is right, and clear where something is stale."""

import re
from contextlib import suppress

import pytest

from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.incremental.rows import OUT
from kubeclassic.core.incremental.verify import SWITCH, StaleError, verifying
from tests.support.build import engine, node, pod

INCOMING = pod("new", requests={"cpu": "1", "memory": "1Gi"})


@pytest.fixture(autouse=True)
def checking():
    """Check all that is kept."""
    with verifying():
        yield


def cluster():
    """Three nodes, one of them in use."""
    return engine(*[node(name) for name in "abc"], pod("p", on="b", requests={"cpu": "2", "memory": "2Gi"}))


@pytest.fixture(params=["rows", "classes"])
def trial(request):
    """A scheduler and the board of a template, whose rows were looked at one by one, or are in classes."""
    made = cluster()
    for _ in range(1 if request.param == "rows" else 3):
        made.schedule(INCOMING, details=False)
    (board,) = made.flow.quick_path.boards._known.values()
    board._is_apart = request.param == "rows"
    assert (board.classes is None) is board._is_apart
    return made, board


def decide(made):
    """The host of one more pod."""
    return made.schedule(INCOMING, details=False).host


# --- Boards -------------------------------------------------------------------------------------------------


def test_what_is_right_passes(trial):
    """Nothing happens where all is as it should be."""
    assert decide(trial[0]) == "a"


def test_a_wrong_total_is_found(trial):
    """The error names the template, the row and the scores that it should have."""
    made, board = trial
    board.near.worth[1] += 1
    board.classes = None
    words = "board for template .* (pod default/new) is stale on 1 rows: 1 (b): row 1: totals .* LeastRequestedPriority "
    with pytest.raises(StaleError, match=re.escape(words).replace(r"\.\*", ".*")):
        decide(made)


def test_a_row_that_should_not_fit_is_found(trial):
    """The error names the predicate that turns it down."""
    made, _ = trial
    made.table.pod_count[2] = 110  # a change that nothing is told of
    with pytest.raises(
        StaleError,
        match=r"stale on 1 rows: 2 \(c\): they fit, but predicate GeneralPredicates turns them down",
    ):
        decide(made)


def test_a_row_that_should_fit_is_found(trial):
    """A row that should fit is found, too."""
    made, board = trial
    board.near.worth[0] = OUT
    board.classes = None
    with pytest.raises(StaleError, match=r"stale on 1 rows: 0 \(a\): 2 fit, worked out 3"):
        decide(made)


def test_a_row_in_another_class_is_found():
    """The sizes of classes are counted, and so is the best of them."""
    made = cluster()
    for _ in range(3):
        made.schedule(INCOMING, details=False)
    (board,) = made.flow.quick_path.boards._known.values()
    board.classes.of_row[0] = board.classes.of_row[1]
    with pytest.raises(StaleError, match=r"board|classes|best rows"):
        decide(made)


# --- Answers ------------------------------------------------------------------------------------------------


def test_stale_reasons_are_found():
    """A predicate's cached answer is compared with its new answer, and the error names the predicate."""
    cycle = cluster().begin(INCOMING)
    predicate = next(rule for rule in cycle.algorithm.predicates if rule.name == "GeneralPredicates")
    answers = AnswerCache(cycle.table)
    answers.read(predicate, cycle)
    cycle.table.pod_count[0] = 110
    with pytest.raises(
        StaleError, match=r"predicate GeneralPredicates .* is stale on 1 rows: 0 \(a\): kept \(\), worked out"
    ):
        answers.read(predicate, cycle)


def test_stale_scores_are_found():
    """Stale raw scores are found, too."""
    cycle = cluster().begin(INCOMING)
    priority = next(rule for rule, _ in cycle.algorithm.priorities if rule.name == "LeastRequestedPriority")
    answers = AnswerCache(cycle.table)
    answers.read(priority, cycle)
    cycle.table.nonzero[:, 0] += 1 << 40
    with pytest.raises(
        StaleError,
        match=r"answer of priority LeastRequestedPriority .* is stale on 1 rows: 0 \(a\): kept \d+, worked",
    ):
        answers.read(priority, cycle)


# --- The switch ---------------------------------------------------------------------------------------------


def test_it_is_as_before_afterwards():
    """Contexts can be nested, and whatever happens in one does not outlast it."""
    seen = []
    with suppress(ZeroDivisionError), verifying(False):
        seen.append(SWITCH.is_on)
        raise ZeroDivisionError
    assert [*seen, SWITCH.is_on] == [False, True]


def test_what_is_off_checks_nothing(trial):
    """Without it a stale worth stays."""
    made, board = trial
    board.near.worth[1] += 1
    with verifying(False):
        assert decide(made) is not None
