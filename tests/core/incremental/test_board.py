"""Boards: who fits and who is best for one template, as a naive look at all nodes says."""

import attrs
import numpy as np
import pytest
import yaml

from kubeclassic.core.cycle import PriorityError
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.incremental.board import Board, Boards
from kubeclassic.core.run import EventFeed
from tests.support.build import engine, node, obj, pod, policy_of

ZONE = "failure-domain.beta.kubernetes.io/zone"
SMALL = {"cpu": "500m", "memory": "64Mi"}


@pytest.fixture(autouse=True, params=["rows", "classes"])
def form(request, monkeypatch):
    """Rows are looked at one by one, or in classes from the first time on: both say the same."""
    whole = Board.refresh
    by_rows = request.param == "rows"

    def refresh(board, *given, **named):
        board._revision = max(board._revision, 0)
        return whole(board, *given, by_rows=by_rows, **named)

    monkeypatch.setattr(Board, "refresh", refresh)
    return str(request.param)


def small(**more):
    """A pod that requests half a cpu."""
    return pod("new", requests=SMALL, **more)


def cluster(*more, **options):
    """Four nodes in two zones, with 1, 2, 4 and 8 cpus."""
    nodes = [node(f"n{cpus}", cpu=str(cpus), labels={ZONE: f"z{cpus % 4 // 2}"}) for cpus in (1, 2, 4, 8)]
    return engine(*nodes, *more, **options)


@attrs.define(eq=False)
class Asked:
    """The boards of an engine, asked by pod."""

    engine: object
    known: Boards = attrs.field(init=False)

    def __attrs_post_init__(self):
        self.known = Boards(AnswerCache(self.engine.table), 1 << 30)

    def cycle(self, incoming):
        """A cycle for *incoming*."""
        return self.engine.begin(incoming, details=False)

    def of(self, incoming, *, window=False):
        """The board of *incoming*, up to date."""
        board, refreshed = self.asked(incoming, window=window)
        assert refreshed
        return board

    def asked(self, incoming, *, window=False):
        """The board of *incoming*, and whether it can be brought up to date."""
        cycle = self.cycle(incoming)
        board = self.known.of(cycle)
        rows = sorted(cycle.table.row_of.values())
        return board, board.refresh(
            cycle, np.array(rows, np.intp), cycle.table.rows_version, len(rows) - window
        )

    def named(self, rows):
        """The names of rows."""
        return [self.engine.table.names[row] for row in rows]

    def fitting(self, incoming):
        """The nodes on which *incoming* fits."""
        board = self.of(incoming)
        found = self.named(np.flatnonzero(board.fits))
        assert board.count == len(found)
        return found

    def best(self, incoming):
        """The nodes with the highest total."""
        totals = self.totals(incoming)
        return self.named(sorted(row for row, total in totals.items() if total == max(totals.values())))

    def totals(self, incoming, rows=None, *, window=False):
        """The totals of the nodes that fit, or of those *rows* that are feasible, by row."""
        board = self.of(incoming, window=window)
        cycle = self.cycle(incoming)
        feasible = board.order[board.fits[board.order]] if rows is None else np.array(rows)
        return dict(zip(feasible.tolist(), board.totals(cycle, feasible).tolist(), strict=True))

    def put(self, *objects):
        """Tell the scheduler of objects."""
        for item in objects:
            EventFeed(self.engine).put(item)


def test_boards_beyond_the_limit_are_dropped():
    """The one that was not asked for longest goes first, and is made again when it is asked for."""
    boards = Asked(cluster())
    boards.known.limit = 11_000  # room for two
    first = boards.of(small(labels={"app": "a"}))
    boards.of(small(labels={"app": "b"}))
    assert boards.of(small(labels={"app": "a"})) is first
    for app in "cde":
        boards.of(small(labels={"app": app}))
    assert boards.of(small(labels={"app": "a"})) is not first


def test_reduced_scores_are_those_among_the_feasible():
    """A score in proportion to the greatest one is so among those that were found, not among all that
    fit."""
    prefers = {
        "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1"]}]},
        "weight": 1,
    }
    incoming = small(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefers]}}
    )
    boards = Asked(cluster())
    plain = boards.totals(small(), window=True)
    with_preferred, without = (boards.totals(incoming, rows, window=True) for rows in ([0, 1], [0, 2]))
    assert with_preferred[1] - plain[1] == with_preferred[0] - plain[0] + 10
    assert without[0] - plain[0] == without[2] - plain[2]


# --- Giving up ----------------------------------------------------------------------------------------------


def test_an_error_of_a_predicate_needs_the_long_way():
    """The nodes for which an error of a predicate counts depend on the rules before it, so no board is
    used."""
    service = obj(
        yaml.safe_load("""
            kind: Service
            metadata: {name: s, namespace: default}
            spec:
              selector: {app: a}
            """)
    )
    argument = {"serviceAffinity": {"labels": ["region"]}}
    policy = policy_of(predicates=[{"name": "CheckServiceAffinity", "argument": argument}])
    gone = pod("1", on="absent", app="a")
    boards = Asked(cluster(service, gone, policy=policy, release="1.16"))
    incoming = small(labels={"app": "a"})
    assert boards.asked(incoming)[1] is False
    EventFeed(boards.engine).delete(gone)
    assert boards.fitting(incoming) == ["n1", "n2", "n4", "n8"]


def test_a_priority_that_cannot_be_computed_ends_the_cycle():
    """The error is the reader's to handle, and the board is right as soon as the priority can be
    computed."""
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    invalid = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}}
    incoming = small(topologySpreadConstraints=[{**constraint, **invalid}])
    there = pod("1", on="n1")
    boards = Asked(cluster(there, gates={"EvenPodsSpread": True}))
    with pytest.raises(PriorityError):
        boards.totals(incoming)
    EventFeed(boards.engine).delete(there)
    assert boards.fitting(incoming) == ["n1", "n2", "n4", "n8"]
