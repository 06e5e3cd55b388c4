"""Facts of releases: the table of releases and the facts say the same, and each fact has a cluster that shows
it."""

from collections.abc import Mapping
from itertools import pairwise

import pytest

from kubeclassic.core.release import CellGroup, fact
from kubeclassic.core.release.fact import CONFIGURATION, EVERYTHING, PREEMPTION, SEARCH, TIES, value_of
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.framework.releases import (
    ALL_RELEASES,
    BY_ID,
    FACTS,
    facts_between,
    facts_of,
    life_of,
    release_before,
    undone,
)
from kubeclassic.questions.upgrade.upgrade import TRAITS
from tests.framework.facts import forms
from tests.framework.facts.trials import TRIALS
from tests.support.factshows import answer_of, answers, cut_down, differs, sides

AROUND = ("live.", "client.", "queue.", "queueing.", "nominations.", "extenders.", "server")
"""Cells of what is around a decision: the queue, events and the API server."""
NAMED = (
    *(
        "version",
        "ordering",
        "predicates",
        "default_predicates",
        "mandatory_predicates",
        "priorities",
        "default_priorities",
    ),
    *("gates", "gate_effects", "policies"),
    *(
        f"configuration.{name}"
        for name in ("default_plugins", "point_plugins", "gated_plugins", "gone_plugins")
    ),
    *(f"configuration.{name}" for name in ("settled_gates", "gate_needs", "not_modelled", "versions")),
)
"""Names, gates and defaults, which are no cells."""
PAIRS = list(pairwise(ALL_RELEASES))
CLUSTERS = {**cut_down(), **forms.CLUSTERS}
SUBJECTS = {CONFIGURATION, EVERYTHING, PREEMPTION, SEARCH, TIES, "gated"}
BETWEEN_KINDS = "1.17"
"""The first release with plugins: hardly any cell says what it does otherwise than the last with
predicates."""


def cells(part, path=""):
    """The cells of a release that decide, by their paths."""
    found = {}
    for name in type(part).__struct_fields__:
        value = getattr(part, name)
        place = f"{path}{name}"
        if isinstance(value, CellGroup):
            found |= cells(value, f"{place}.")
        elif isinstance(value, Mapping) and place not in NAMED:
            found |= {f"{place}.{key}": item for key, item in value.items()}
        elif place not in NAMED:
            found[place] = value
    return {name: value for name, value in found.items() if not name.startswith(AROUND)}


# --- Facts --------------------------------------------------------------------------------------------------

# The facts as a table.


def test_each_has_a_name_of_its_own():
    """No two facts have one id."""
    assert len(BY_ID) == len(FACTS)


def test_they_are_in_the_order_of_releases():
    """Facts come oldest first."""
    known = list(ALL_RELEASES)
    assert [known.index(fact.release) for fact in FACTS] == sorted(
        known.index(fact.release) for fact in FACTS
    )


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.id)
def test_its_cells_differ_from_the_release_before(fact):
    """Each cell of a fact has another value in its release than in the one before."""
    release = ALL_RELEASES[fact.release]
    before = release_before(fact.release)
    assert [cell for cell in fact.cells if value_of(release, cell) == value_of(before, cell)] == []


def test_their_needs_are_traits():
    """Each need of a fact is a trait that the upgrade looks for."""
    assert {name for fact in FACTS for need in fact.needs for name in need.split("|")} <= TRAITS


def test_they_are_about_rules():
    """A fact is about a plugin of the framework, a rule of older releases, or a subject."""
    older = {
        name
        for release in ALL_RELEASES.values()
        for name in (*release.predicates, *release.priorities, *release.ordering)
    }
    gated = {
        effect.registers_priority for release in ALL_RELEASES.values() for effect in release.gate_effects
    }
    assert {fact.plugin for fact in FACTS} <= {*DEFAULT_REGISTRY, *older, *gated, *SUBJECTS}


@pytest.mark.parametrize("before, after", PAIRS)
def test_every_difference_of_the_table_is_a_fact(before, after):
    """Each cell in which two neighbours differ belongs to a fact of the newer one."""
    if after == BETWEEN_KINDS:
        assert facts_of(after)
        return
    one = cells(ALL_RELEASES[before])
    other = cells(ALL_RELEASES[after])
    told = {cell for fact in facts_of(after) for cell in fact.cells}
    differing = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    assert [name for name in differing if not any(f"{name}.".startswith(f"{cell}.") for cell in told)] == []


def test_undone_facts_leave_the_release_before():
    """A release without all of its facts has every cell of the one before."""
    pairs = [pair for pair in PAIRS if pair[1] != BETWEEN_KINDS]
    assert len(pairs) == len(ALL_RELEASES) - 2
    for before, after in pairs:
        assert cells(undone(ALL_RELEASES[after], facts_of(after))) == cells(ALL_RELEASES[before])


def test_facts_between():
    """The facts of a way are those of the releases after its beginning."""
    assert facts_between("1.28", "1.30") == (*facts_of("1.29"), *facts_of("1.30"))


def test_the_life_of_a_rule():
    """A rule's facts are found by its name."""
    assert [fact.id for fact in life_of("ImageLocality")] == [
        *("image-bound-by-container", "images-on-all-nodes", "init-images-count", "image-volumes-count")
    ]


def seen(answer, cycle, field):
    """The *field* of one cycle in *answer*."""
    found = answer["cycles"][cycle] if "cycles" in answer else {"host": None, **answer}
    if field == "preemption":
        plan = found[field]
        return plan and [plan["node"], *plan["victims"]]
    return found[field] if field in found else found.get("priorities", {}).get(field)


def check(shown, *both):
    """Hold what *both* answers have in the first cycle in which they differ against what is *shown*."""
    field, *wanted = shown
    cycles = [found.get("cycles", []) for found in both]
    first = next((i for i, (one, other) in enumerate(zip(*cycles, strict=False)) if one != other), 0)
    for found, want in zip(both, wanted, strict=True):
        value = seen(found, first, field)
        assert (want in value) if field == "error" and want else value == want


# --- Shows --------------------------------------------------------------------------------------------------

# Each fact on a small cluster, on which it alone changes the answer.


@pytest.mark.parametrize("name", CLUSTERS)
def test_it_alone_changes_the_answer(name):
    """The release answers otherwise than the same release without this fact."""
    assert differs(CLUSTERS[name], BY_ID[name])


@pytest.mark.parametrize("name", forms.ANSWERS)
def test_the_answers_of_both(name):
    """The release answers as it should with the fact, and as the release before without it."""
    check(forms.ANSWERS[name], *answers(CLUSTERS[name], BY_ID[name])[::-1])


@pytest.mark.parametrize("name", TRIALS)
def test_it_alone_changes_the_trial(name):
    """Undoing the fact alone changes the trial, where no case shows it."""
    with_it, without = map(TRIALS[name], sides(BY_ID[name]))
    assert with_it != without


def test_no_fact_is_without():
    """Each fact has a cluster or a trial that shows it."""
    assert {fact.id for fact in FACTS} == {*CLUSTERS, *TRIALS}


SENTENCES = [(release, *next(iter(row.items()))) for release, rows in forms.SENTENCES.items() for row in rows]


@pytest.mark.parametrize(
    "release, written", [row[::2] for row in SENTENCES], ids=[row[1] for row in SENTENCES]
)
def test_each_sentence_on_a_cluster(release, written):
    """Each difference of the newest releases from those before them shows on a small cluster."""
    case = (
        CLUSTERS[written]
        if isinstance(written, str)
        else forms.cluster({key: written[key] for key in written if key != "shows"})
    )
    both = [answer_of(case, one) for one in (release_before(release), ALL_RELEASES[release])]
    if isinstance(written, str):
        assert both[0] != both[1]
    else:
        check(written["shows"], *both)


def test_a_line_that_is_neither():
    """A paragraph has one sentence: a line with a misspelt key is refused."""
    with pytest.raises(ValueError, match="a second sentence: need: volumes"):
        fact._parse_paragraph(["what it does", "need: volumes"])
