"""Results by value of a label, or cached from cycle to cycle, are those of the plugins node by node."""

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.counts import FEW, judged
from kubeclassic.core.arrays.reduction import Reduction
from kubeclassic.core.incremental.classes import ScoresOfClasses
from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.config.args import InterPodAffinityArgs
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugins.interpodaffinity import InterPodAffinity
from kubeclassic.framework.profile import as_cacheable, as_predicate, as_priority
from tests.support.asking import cycle_of, handle
from tests.support.build import node, pod
from tests.support.examples import examples
from tests.support.spreadbuild import KEYS, LABELS, constraint, plugin, soft

APPS = st.sampled_from("ab")
ABOUT = APPS.map(lambda app: {"matchLabels": {"app": app}})
TERM = st.builds(
    lambda about, key: {"labelSelector": about, "topologyKey": key}, ABOUT, st.sampled_from(KEYS)
)
LIKED = st.lists(
    st.builds(lambda weight, term: {"weight": weight, "podAffinityTerm": term}, st.integers(1, 100), TERM),
    max_size=2,
)
ROLE = st.builds(
    lambda required, preferred: {
        f"{name}DuringSchedulingIgnoredDuringExecution": found
        for name, found in (("required", required), ("preferred", preferred))
        if found
    },
    st.lists(TERM, max_size=1),
    LIKED,
)
AFFINITY = st.fixed_dictionaries({}, optional={"podAffinity": ROLE, "podAntiAffinity": ROLE})
SPREAD = st.lists(
    st.builds(
        lambda make, key, skew, about: make(key, skew, selector=about),
        st.sampled_from([constraint, soft]),
        st.sampled_from(KEYS),
        st.integers(1, 2),
        ABOUT,
    ),
    max_size=2,
    unique_by=lambda found: (found["topologyKey"], found["whenUnsatisfiable"]),
)
SPECS = st.fixed_dictionaries({}, optional={"affinity": AFFINITY, "topologySpreadConstraints": SPREAD})
FORMS = st.lists(st.tuples(APPS, SPECS), min_size=1, max_size=3)
NODES = st.lists(LABELS, min_size=2, max_size=8)
PLUGINS = {
    "InterPodAffinity": lambda: InterPodAffinity(InterPodAffinityArgs(), handle()),
    "PodTopologySpread": plugin,
    "PodTopologySpread without defaults": lambda: plugin(()),
}


def made(name, form, on=""):
    """A pod of one of the forms."""
    return pod(name, on=on, app=form[0], **form[1])


def outcomes(by, cycle, nodes):
    """The reasons of the plugin's filter for each node."""
    found = by.filter(cycle.template, nodes, cycle)
    return [
        tuple(reason.text for reason in (() if found is None else found.reasons(i))) for i in range(nodes.n)
    ]


def plain_scores(by, cycle, rows):
    """PreScore, Score and NormalizeScore of the feasible nodes on *rows*."""
    nodes = Batch(cycle.table, rows)
    assert by.pre_score(cycle.template, nodes, cycle) is None
    return list(by.normalize_score(cycle.template, by.score(cycle.template, nodes, cycle), nodes, cycle))


def kept_scores(by, cycle, rows):
    """The scores from the cache for the whole table."""
    rule = as_cacheable(as_priority(by, True, by.cells), by, True)
    raw = rule.score(cycle.template, Batch(cycle.table), cycle).take(rows)
    return (
        list(rule.reduce(cycle.template, raw, Batch(cycle.table, rows), cycle))
        if rule.reduce
        else raw.tolist()
    )


def declared_scores(by, cycle, rows):
    """The scores from the sums that the plugin declares, whole and row by row, and the scale that follows;
    none if it declares none."""
    rule = as_cacheable(as_priority(by, True, by.cells), by, True)
    pod = cycle.template
    nodes = Batch(cycle.table, rows)
    declared = rule.sums and rule.sums(pod, cycle)
    if declared is None:
        return []
    whole = sum(
        [each.everywhere(Batch(cycle.table)) for each in declared.each], np.zeros(cycle.table.size, np.int64)
    ).take(rows)
    assert whole.tolist() == [sum(each.at(row) for each in declared.each) for row in rows.tolist()]
    reduce = rule.reduce
    if not isinstance(reduce, Reduction):
        return []
    column = None if reduce.column is None else reduce.column(pod, cycle)
    codes = [0] * len(rows) if column is None else nodes.codes_of(column).tolist()
    scale = reduce.scale(pod, ScoresOfClasses(whole.tolist(), codes, [1] * len(rows)), cycle)
    found = [scale.each(whole.tolist(), codes)] if scale else []
    return [*found, list(reduce(pod, whole, nodes, cycle))]


def declared_outcomes(by, cycle):
    """The reasons of the plugin's filter for all nodes, by the clauses that it declares; None where it
    declares none."""
    declare = as_predicate(by, True, by.cells).clauses
    clauses = declare and declare(cycle.template, cycle)
    if clauses is None:
        return None
    found = judged(clauses, Batch(cycle.table))
    return [
        tuple(reason.text for reason in (() if found is None else found.reasons(i)))
        for i in range(cycle.table.size)
    ]


@pytest.mark.parametrize("name", PLUGINS)
class TestEachPlugin:
    @examples(1)
    @given(
        labels=NODES, forms=FORMS, at=st.lists(st.integers(0, 7), max_size=8), feasible=st.integers(1, 255)
    )
    def test_the_whole_table_answers_as_its_rows(self, name, labels, forms, at, feasible):
        """The filter of all nodes gives the reasons of each of them, and kept scores become the scores of the
        nodes that fit."""
        nodes = [node(f"n{i}", labels=found) for i, found in enumerate(labels)]
        pods = [made(f"p{i}", forms[i % len(forms)], f"n{place % len(nodes)}") for i, place in enumerate(at)]
        by = PLUGINS[name]()
        cycle = cycle_of(made("new", forms[0]), *nodes, *pods)
        rows = np.arange(cycle.table.size)
        wanted = outcomes(by, cycle, Batch(cycle.table, rows))
        assert outcomes(by, cycle, Batch(cycle.table)) == wanted
        assert declared_outcomes(by, cycle) in (None, wanted)
        fit = np.array([row for row in rows if feasible >> int(row) & 1], np.intp)
        if len(fit):
            kept = kept_scores(by, cycle, fit)
            plain = plain_scores(by, cycle, fit)
            # Scores that are the same for all nodes are left out of decisions, whatever they are.
            for found in (kept, *declared_scores(by, cycle, fit)):
                assert found == plain or len({*found}) == len({*plain}) == 1

    def test_the_first_of_its_kind(self, name):
        """A pod that requires its own kind may be the first one, but on no node that lacks the label."""
        wants = yaml.safe_load("""
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector:
              matchLabels: {app: a}
            topologyKey: zone
        """)
        new = pod("new", app="a", affinity=wants, topologySpreadConstraints=[constraint("zone")])
        cycle = cycle_of(new, node("a", labels={"zone": "x"}), node("bare"))
        by = PLUGINS[name]()
        assert [bool(found) for found in outcomes(by, cycle, Batch(cycle.table))] == [False, True]
        assert declared_outcomes(by, cycle) == outcomes(by, cycle, Batch(cycle.table))

    @pytest.mark.parametrize("key", ["zone", KEYS[2]])
    def test_nodes_that_all_have_peers(self, name, key):
        """The least of the counts that fit is what counts, not zero: with one, two and four peers, and with
        the first of these left out."""
        nodes = [node(f"n{i}", labels={"zone": f"z{i}", KEYS[2]: f"n{i}"}) for i in range(3)]
        likes = {
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 7,
                        "podAffinityTerm": {
                            "labelSelector": {"matchLabels": {"app": "a"}},
                            "topologyKey": key,
                        },
                    }
                ]
            }
        }
        new = pod("new", app="a", affinity=likes, topologySpreadConstraints=[soft(key)])
        pods = [pod(f"p{i}", on=f"n{at}", app="a") for i, at in enumerate([0, 1, 1, 2, 2, 2, 2])]
        cycle = cycle_of(new, *nodes, *pods)
        by = PLUGINS[name]()
        for fit in ([0, 1, 2], [1, 2], [0, 1]):
            rows = np.array(fit, np.intp)
            found = kept_scores(by, cycle, rows), *declared_scores(by, cycle, rows)
            assert all(each == plain_scores(by, cycle, rows) for each in found)
            assert len({*kept_scores(by, cycle, rows)}) == len(fit)


# --- Decisions ----------------------------------------------------------------------------------------------


@examples(1)
@given(
    labels=NODES,
    forms=FORMS,
    order=st.lists(st.integers(0, 2), min_size=1, max_size=16),
    leaving=st.integers(0, 15),
)
def test_the_quick_way_is_the_long_way(labels, forms, order, leaving):
    """Pods of a few templates in turn get the same hosts with and without anything kept, also after a pod
    left."""
    quick = framework_engine()
    slow = framework_engine(memory_bytes=0)
    with verifying():
        assert hosts(quick, labels, forms, order, leaving) == hosts(slow, labels, forms, order, leaving)


def hosts(engine, labels, forms, order, leaving):
    """The host of each pod; before the last one, pod number *leaving* is deleted."""
    feed = EventFeed(engine)
    found = []
    pods = []
    for i, item in enumerate(labels):
        feed.put(node(f"n{i}", labels=item))
    for number, form in enumerate(order):
        if number == len(order) - 1 and leaving < len(pods):
            feed.delete(pods[leaving])
        new = made(f"p{number}", forms[form % len(forms)])
        host = engine.schedule(new, details=False).host
        found.append(host)
        if host is not None:
            pods.append(new.bound_to(host))
            feed.put(pods[-1])
    return found


def test_labels_with_many_values():
    """Where values are not few, they are in arrays, and mean the same."""
    nodes = [node(f"n{i:02}", labels={"host": f"h{i}"}) for i in range(FEW + 2)]
    term = yaml.safe_load("{labelSelector: {matchLabels: {app: a}}, topologyKey: host}")
    refusing = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    new = pod("new", app="a", affinity=refusing)
    there = pod("p", on="n07", app="a")
    cycle = cycle_of(new, *nodes, there)
    by = PLUGINS["InterPodAffinity"]()
    assert [bool(found) for found in outcomes(by, cycle, Batch(cycle.table))] == [
        i == 7 for i in range(len(nodes))
    ]
    assert declared_outcomes(by, cycle) == outcomes(by, cycle, Batch(cycle.table))
