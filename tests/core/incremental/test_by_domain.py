"""Rules that go by domain: each claim holds, and each wrong claim is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.census import PodCount
from kubeclassic.core.cycle import Cycle
from kubeclassic.core.engine import Engine
from kubeclassic.core.failures import Failures, Reason
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.pods.notes import CycleState
from kubeclassic.core.pods.template import Template
from kubeclassic.core.rule import Predicate, Priority, Reads
from tests.support.crowds import begun
from tests.support.townforms import FORMS, HOST, PLAIN, RACK, person
from tests.support.towns import Town, days, scheduler
from tests.support.worlds import answer, judged, remembered

Rule = Predicate | Priority
RELEASES = ("1.16", "1.27")
TOWNS, MOST_TOWNS, DAYS = 3, 40, 30
"""How many towns are looked at, and how many at most until one tells."""
CHANGES = ("come", "come", "come", "leave", "leave")
LOOKING = range(len(PLAIN), len(FORMS))
"""The forms of pods that look at others."""
BY_NODE = ("EvenPodsSpreadPriority scores", "PodTopologySpread scores")
"""They count the pods of a node as such, and so ask for no key."""
ODD = (Reason("odd"),)


def cycle_for(engine: Engine, pod: Pod) -> Cycle:
    """A cycle with the rules in the form whose answers are kept."""
    cycle = begun(engine, pod)
    for profile in engine.flow.profiles.values():
        cycle.algorithm = profile.cacheable or cycle.algorithm
    return cycle


def rules_of(cycle: Cycle) -> Iterator[tuple[str, Rule]]:
    """The rules of a cycle that count pods by domain, each with a name that no other has."""
    algorithm = cycle.algorithm
    for predicate in algorithm.predicates:
        if predicate.reads & Reads.DOMAIN:
            yield f"{predicate.name} turns down", predicate
    for priority, _ in algorithm.priorities:
        if priority.reads & Reads.DOMAIN:
            yield f"{priority.name} scores", priority


def is_wrong(release: str, name: str, change: Callable[[Rule], Rule], towns: int) -> bool:
    """Whether the memory ever gives another answer than the rule called *name*, as *change* makes it, gives to a look at all nodes."""
    for seed in range(towns):
        town = Town(release)
        town.begin(with_pods=seed // 2 % 2 == 0)
        form, memory = LOOKING[seed % len(LOOKING)], AnswerCache(town.engine.table)
        for step in days(seed, DAYS, CHANGES):
            town.take(step)
            cycle = cycle_for(town.engine, person(form + len(FORMS) * (seed % 2), "asked"))
            rule, rows = change(dict(rules_of(cycle))[name]), judged(cycle)
            cycle.answers = memory
            found = remembered(rule, cycle, rows)
            fresh = attrs.evolve(cycle, answers=None, notes=CycleState(cycle.notes))
            if found != answer(rule, fresh, Batch(cycle.table), rows):
                return True
    return False


def unchanged(rule: Rule) -> Rule:
    """The rule as it is."""
    return rule


def claiming(rule: Rule) -> Rule:
    """The rule, with the claim that it goes by domain for any pod."""
    return attrs.evolve(rule, by_domain=lambda pod: True)


def looking_further(rule: Any) -> Rule:
    """The rule, whose answer also hangs on how many pods there are in all domains of the counters that it asks."""

    def check(pod: Template, nodes: Batch, cycle: Any) -> Failures | None:
        rule.check(pod, nodes, cycle)
        return Failures.where(ODD, np.full(nodes.n, _total(cycle) % 2 == 1))

    def score(pod: Template, nodes: Batch, cycle: Any) -> Any:
        return rule.score(pod, nodes, cycle) + _total(cycle)

    return attrs.evolve(rule, check=check) if isinstance(rule, Predicate) else attrs.evolve(rule, score=score)


def _total(cycle: Any) -> int:
    return sum(counter.total for counter in cycle.table.census.counters.values())


def names(claims: bool) -> list[tuple[str, str]]:
    """(release, rule) for those that count by domain and say so for some pod; without *claims* those that do not for some."""
    found = []
    for release in RELEASES:
        engine = scheduler(release)
        templates = [engine.begin(person(form, "asked")).template for form in LOOKING]
        for name, rule in rules_of(cycle_for(engine, person(0, "asked"))):
            if any(rule.by_domain(template) == claims for template in templates):
                found.append((release, name))
    return found


CLAIMS, NO_CLAIMS = names(True), names(False)


class TestClaims:
    def test_which_there_are(self) -> None:
        """Pod affinity goes by domain, both in what it turns down and in what it scores; for required affinity it does not say so. The
        scores of a spread over hosts do too."""
        assert {name for _, name in CLAIMS} == {
            "MatchInterPodAffinity turns down", "InterPodAffinityPriority scores", "InterPodAffinity turns down", "InterPodAffinity scores",
            *BY_NODE,
        }  # fmt: skip
        assert {name for name in NO_CLAIMS if name in CLAIMS} == {
            ("1.16", "MatchInterPodAffinity turns down"), ("1.27", "InterPodAffinity turns down"), ("1.27", BY_NODE[1]),
        }  # fmt: skip

    @pytest.mark.parametrize(("release", "name"), sorted({*CLAIMS, *NO_CLAIMS}))
    def test_they_hold(self, release: str, name: str) -> None:
        """Whatever pods come and go, the memory says what a look at all nodes says."""
        assert not is_wrong(release, name, unchanged, TOWNS * len(LOOKING))


class TestMutations:
    @pytest.mark.parametrize(("release", "name"), [(release, name) for release, name in NO_CLAIMS if name.endswith("turns down")])
    def test_a_claim_that_is_wrong_is_noticed(self, release: str, name: str) -> None:
        """What a predicate turns down that does not say so hangs on other domains too: spreading, and required affinity."""
        assert is_wrong(release, name, claiming, MOST_TOWNS)

    @pytest.mark.parametrize(("release", "name"), CLAIMS)
    def test_a_look_at_other_domains_is_noticed(self, release: str, name: str) -> None:
        """A rule that says that it goes by domain must not look at what counters count elsewhere."""
        assert is_wrong(release, name, looking_further, MOST_TOWNS)

    @pytest.mark.parametrize("key", [HOST, RACK])
    @pytest.mark.parametrize(("release", "name"), [(release, name) for release, name in CLAIMS if name not in BY_NODE])
    def test_a_key_that_is_left_out_is_noticed(self, release: str, name: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A rule has to ask the counter for the domains of each key by which it goes."""
        columns = PodCount.columns
        monkeypatch.setattr(PodCount, "columns", lambda counter: (found for found in columns(counter) if found[0] != key))
        assert is_wrong(release, name, unchanged, MOST_TOWNS)
