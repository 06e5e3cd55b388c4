"""The census: whatever comes and goes, its counts are those of a fresh count."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.meaning.labels import compile_selector
from kubeclassic.api.objects import LabelSelector, strings
from kubeclassic.core.arrays.census import REQUIRED_ANTI_AFFINITY, ROLES, PodsMatching, Unreadable, carriers
from tests.support.build import engine, node, pod
from tests.support.examples import examples

INVALID = yaml.safe_load("{matchExpressions: [{key: app, operator: Near, values: [a]}]}")


def matching(app):
    """The pods with *app* in namespace default; for app c no label pair is told that would narrow the
    search."""
    selector = LabelSelector(match_labels=strings({"app": app}))
    matches = compile_selector(selector)
    pairs = selector.match_labels.items() if app != "c" else ()
    return PodsMatching(frozenset(("default",)), selector, lambda group: matches(group.labels), pairs)


def refusing(app, key="zone", *, selector=None, of="h"):
    """A pod of app *of* that refuses pods with *app* by zone."""
    term = {"labelSelector": selector or {"matchLabels": {"app": app}}, "topologyKey": key}
    return pod(
        "p", app=of, affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    )


def empty():
    """A table without rows and the templates for it."""
    made = engine()
    return made.table, made.templates


def by_value(counter, table):
    """The counts of a counter by the values of a label key, zeros left out."""
    counts = counter.domains("zone", table.labels)
    values = table.labels["zone"].values if "zone" in table.labels else [None]
    return {value: int(counts[code]) for code, value in enumerate(values) if counts[code]}


def test_terms_about_a_pod_are_found_whenever_they_come():
    """A term that appears after a pod was asked about is found the next time, each but once."""
    table, templates = empty()
    about = templates.of(pod("new", labels={"app": "a", "tier": "t"}))
    row = table.row("n")
    assert not table.census.terms_about(about, REQUIRED_ANTI_AFFINITY)
    for wanted, found in (
        (refusing("a"), 1),
        (refusing("b"), 1),
        (refusing("a", of="k"), 1),
        (refusing("a", "host"), 2),
    ):
        table.add_pod(row, templates.entry(wanted))
        assert len(table.census.terms_about(about, REQUIRED_ANTI_AFFINITY)) == found
    assert [counter.total for _, counter in table.census.terms_about(about, REQUIRED_ANTI_AFFINITY)] == [2, 1]


def test_expressions_are_found_too():
    """A term without any label pair is held against every pod."""
    table, templates = empty()
    table.add_pod(
        table.row("n"),
        templates.entry(refusing("", selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]})),
    )
    for labels, found in (({"app": "z"}, 1), ({}, 0)):
        assert (
            len(table.census.terms_about(templates.of(pod("new", labels=labels)), REQUIRED_ANTI_AFFINITY))
            == found
        )


def test_a_pod_with_an_invalid_selector_carries_no_terms():
    """A pod with an invalid selector is counted as unreadable, and carries no terms."""
    table, templates = empty()
    entry = templates.entry(refusing("", selector=INVALID))
    table.add_pod(table.row("n"), entry)
    assert not carriers(entry.template, REQUIRED_ANTI_AFFINITY)
    assert table.census.counter(Unreadable((REQUIRED_ANTI_AFFINITY,))).total == 1


def test_a_term_is_known_before_a_pod_with_it_comes():
    """A nominated pod's terms are learned though it stands on no row."""
    table, templates = empty()
    table.census.learn(templates.entry(refusing("a"), nominated=True).template)
    terms = table.census.terms_about(templates.of(pod("new", app="a")), REQUIRED_ANTI_AFFINITY)
    assert [counter.total for _, counter in terms] == [0]


WHAT = st.sampled_from(["node", "bare", "pod", "leave", "drop", "ask"])
STEPS = st.lists(
    st.tuples(WHAT, st.integers(0, 3), st.sampled_from("abc"), st.sampled_from("xyz")), max_size=25
)


@given(STEPS)
@examples(2)
def test_counts_are_those_of_a_fresh_count(steps):
    """Nodes that come, change and go, pods before and after them, questions in between: the counts are as if
    counted anew."""
    table, templates = empty()
    for what, number, app, zone in steps:
        _step(table, templates, what, f"n{number}", app, zone)
        for query in list(table.census.counters):
            _check(table, table.census.counter(query))


def _step(table, templates, what, name, app, zone):
    if what == "ask":
        by_value(table.census.counter(matching(app)), table)
    elif what == "node":
        table.set_nodes({table.row(name): (node(name, labels={"zone": zone}), {})})
    elif what == "pod":
        table.add_pod(table.row(name), templates.entry(refusing(zone, of=app)))
    elif name in table.row_of and what == "bare":
        table.clear_node(table.row(name))
    elif name in table.row_of and what == "leave" and table.pods[table.row(name)]:
        table.remove_pod(table.row(name), table.pods[table.row(name)][0])
    elif name in table.row_of and what == "drop":
        table.drop(name)


def _check(table, counter):
    there = [(row, entry) for row in range(table.size) for entry in table.pods[row]]
    expected = {}
    for row, entry in there:
        node_there = table.nodes[row]
        zone = None if node_there is None else node_there.labels.get("zone")
        if zone is not None and (often := counter.query.counts(entry.template)):
            expected[zone] = expected.get(zone, 0) + often
    assert by_value(counter, table) == expected
    assert counter.total == sum(counter.query.counts(entry.template) for _, entry in there)


def test_every_role_is_indexed():
    """Each of the four kinds of terms is found by its role."""
    term = yaml.safe_load("{labelSelector: {matchLabels: {app: a}}, topologyKey: zone}")
    preferred = [{"weight": 2, "podAffinityTerm": term}]
    both = {
        "requiredDuringSchedulingIgnoredDuringExecution": [term],
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    table, templates = empty()
    table.add_pod(
        table.row("n"), templates.entry(pod("p", affinity={"podAffinity": both, "podAntiAffinity": both}))
    )
    about = templates.of(pod("new", app="a"))
    found = {
        role: [(carrier.weight, counter.total) for carrier, counter in table.census.terms_about(about, role)]
        for role in ROLES
    }
    assert found == {role: [(2 if role.startswith("preferred") else 0, 1)] for role in ROLES}
