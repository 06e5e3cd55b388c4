"""Cached answers: evaluated again where something changed that the rule reads, and nowhere else."""

import attrs
import numpy as np
import pytest

from kubeclassic.core.arrays.census import PodsMatching
from kubeclassic.core.arrays.failures import Failures, Reason
from kubeclassic.core.cycle import Predicate, Priority, PriorityError, Reads
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.run import EventFeed
from tests.support.build import engine, node, pod

NODES = 9
FULL = Reason("full")
APP_A = PodsMatching(None, "app a", lambda group: group.labels.get("app") == "a")


def crowded(nodes):
    """Nodes with two pods or more are turned down."""
    return Failures.where(FULL, nodes.pod_count >= 2)


@attrs.define(eq=False)
class Trial:
    """A cluster of nine nodes, a cache of answers, and a predicate that notes which rows it is asked
    about."""

    reads: Reads
    check: object = crowded
    engine: object = attrs.field(factory=lambda: engine(*[node(f"n{number}") for number in range(NODES)]))
    asked: list = attrs.field(factory=list)
    answers: AnswerCache = attrs.field(init=False)
    predicate: Predicate = attrs.field(init=False)
    pods: int = 0

    def __attrs_post_init__(self):
        def check(pod, nodes, cycle):
            self.asked.append(nodes.indexes.tolist())
            return self.check(nodes)

        self.answers = AnswerCache(self.engine.table)
        self.predicate = Predicate(
            name="Trial", check=check, reads=self.reads, key=lambda template: template.labels
        )

    def cycle(self, incoming=None):
        """A cycle for a pod, the same each time unless one is given."""
        return self.engine.begin(incoming or pod("new"))

    def rows(self):
        """The rows of each batch that the predicate is asked about now."""
        self.asked = []
        self.answers.read(self.predicate, self.cycle())
        return self.asked

    def failing(self):
        """The rows that the predicate turns down."""
        found = self.answers.read(self.predicate, self.cycle()).answer
        return [] if found is None else np.flatnonzero(found.codes).tolist()

    def put(self, *objects):
        """Tell the scheduler of objects."""
        for item in objects:
            EventFeed(self.engine).put(item)

    def place(self, on, **labels):
        """Put one more pod on a node."""
        self.pods += 1
        self.put(pod(f"p{self.pods}", on=on, labels=labels))


ALL = [list(range(NODES))]


# --- Staleness ----------------------------------------------------------------------------------------------


def test_an_answer_is_kept():
    """The second time nothing is evaluated."""
    trial = Trial(Reads.REQUESTS)
    assert (trial.rows(), trial.rows()) == (ALL, [])


def test_rows_that_changed_are_evaluated():
    """A pod makes its own row stale, for a rule that reads the pods of the row."""
    trial = Trial(Reads.REQUESTS)
    trial.rows()
    trial.place("n4")
    trial.place("n4")
    trial.place("n7")
    assert (trial.rows(), trial.failing()) == ([[4, 7]], [4])


def test_pods_do_not_matter_to_a_rule_of_node_objects():
    """A rule that reads node objects is asked again about a node that changed, not about one that got a
    pod."""
    trial = Trial(Reads.NODE)
    trial.rows()
    trial.place("n4")
    assert trial.rows() == []
    trial.put(node("n5", unschedulable=True))
    assert trial.rows() == [[5]]


def test_a_counter_makes_all_rows_stale():
    """A rule over domains is evaluated when a counter moved that it looked at, and by no other pod."""
    trial = Trial(
        Reads.NODE | Reads.DOMAIN, check=lambda nodes: Failures.where(FULL, nodes.counting(APP_A) > 0)
    )
    trial.rows()
    trial.place("n4", app="b")
    assert trial.rows() == []
    trial.place("n4", app="a")
    assert (trial.rows(), trial.failing()) == (ALL, [4])


def test_only_rows_on_which_a_count_moved_are_stale():
    """Of many changed rows, a rule that counts pods of the row is asked only about those where its own count
    changed."""
    trial = Trial(Reads.COUNTS, check=lambda nodes: Failures.where(FULL, nodes.counting(APP_A) > 0))
    trial.rows()
    for number in range(NODES):
        trial.place(f"n{number}", app="b")
    trial.place("n5", app="a")
    trial.place("n4", app="a")
    trial.place("n5", app="a")
    assert (trial.rows(), trial.failing()) == ([[4, 5]], [4, 5])


# --- Sharing ------------------------------------------------------------------------------------------------


def test_pods_with_equal_keys_share_an_answer():
    """Templates that the rule's key does not tell apart pay for one evaluation."""
    trial = Trial(Reads.REQUESTS)
    first = trial.answers.read(trial.predicate, trial.cycle(pod("a", cpu="1")))
    second = trial.answers.read(trial.predicate, trial.cycle(pod("b", cpu="2")))
    other = trial.answers.read(trial.predicate, trial.cycle(pod("c", app="c")))
    assert first is second is not other


def test_arrays_that_a_reader_has_are_copied_before_they_change():
    """A reader that marks an answer as shared keeps its values."""
    trial = Trial(Reads.REQUESTS)
    trial.place("n4")
    trial.place("n4")
    answer = trial.answers.read(trial.predicate, trial.cycle())
    before = answer.answer
    answer.shared = True
    assert before is not None
    trial.place("n5")
    trial.place("n5")
    assert trial.failing() == [4, 5]
    assert np.flatnonzero(before.codes).tolist() == [4]


def test_no_objection_again_is_no_change():
    """A predicate that is evaluated for all rows and still objects to nothing does not move its revision."""
    trial = Trial(
        Reads.NODE | Reads.DOMAIN, check=lambda nodes: Failures.where(FULL, nodes.counting(APP_A) > 1)
    )
    answer = trial.answers.read(trial.predicate, trial.cycle())
    revision = answer.revision
    trial.place("n4", app="a")
    assert (trial.rows(), answer.revision) == (ALL, revision)
    trial.place("n4", app="a")
    assert (trial.rows(), answer.revision) == (ALL, revision + 1)


def test_a_priority_that_cannot_be_computed_is_asked_again():
    """After a PriorityError nothing is kept, and the next answer is right."""
    trial = Trial(Reads.REQUESTS)
    broken = [True]

    def score(pod, nodes, cycle):
        if broken:
            raise PriorityError("broken")
        return nodes.pod_count * 10

    priority = Priority(name="Trial", score=score, reads=Reads.REQUESTS)
    with pytest.raises(PriorityError):
        trial.answers.read(priority, trial.cycle())
    broken.clear()
    trial.place("n1")
    found = trial.answers.read(priority, trial.cycle())
    assert (found.answer.tolist(), found.constant) == ([0, 10, 0, 0, 0, 0, 0, 0, 0], None)


def test_what_was_not_looked_up_for_longest_goes_first():
    """Beyond its limit the cache drops answers, and evaluates them when they are asked for again."""
    trial = Trial(Reads.REQUESTS, check=lambda nodes: Failures.where(FULL, nodes.has_node))
    size = NODES * 8
    trial.answers.limit = 3 * size
    pods = [pod("p", app=str(number)) for number in range(6)]
    for incoming in pods:
        trial.answers.read(trial.predicate, trial.cycle(incoming))
        assert trial.answers.held <= 4 * size
    trial.asked = []
    trial.answers.read(trial.predicate, trial.cycle(pods[-1]))
    assert trial.asked == []
    trial.answers.read(trial.predicate, trial.cycle(pods[0]))
    assert trial.asked == ALL
