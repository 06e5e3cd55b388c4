"""Each point in which ``policy migrate`` departs from upstream's translation pays: more decisions are the old release's with it."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from kubeclassic.exceptions import PolicyError, UnknownNameError
from kubeclassic.framework.migrate.deviations import ALL, DEVIATIONS, OLDER_RULES, named
from tests.support.deviationtrials import Trial, refused, trials

BY_DEVIATION: dict[str, list[Trial]] = defaultdict(list)
for _trial in trials(seeds=1):
    BY_DEVIATION[_trial.deviation].append(_trial)


@pytest.mark.parametrize("name", sorted(set(DEVIATIONS) - {OLDER_RULES}))
def test_fewer_decisions_differ(name: str) -> None:
    """Over its trials fewer decisions differ from the old release's with the deviation than with upstream's translation in this point."""
    with_it, without_it = Counter[str](), Counter[str]()
    for trial in BY_DEVIATION[name]:
        with_it.update(trial.counts())
        without_it.update(trial.counts((name,)))
    assert with_it["decisions"] > 0
    assert with_it["different"] < without_it["different"]


def test_older_rules_are_refused_without_it() -> None:
    """Upstream's translation refuses a Policy with conditions, by name; ours decides nearly all as the old release does."""
    trial = refused()
    with pytest.raises(PolicyError, match=r'^predicate type not found for "CheckNodeMemoryPressure"$'):
        trial.counts((OLDER_RULES,))
    found = trial.counts()
    assert found["different"] * 10 < found["decisions"]


def test_names() -> None:
    """A deviation is undone by its name, ``all`` stands for each, and another name is refused with near ones."""
    assert named(["never-run"]) == {"never-run"}
    assert named([ALL, "never-run"]) == set(DEVIATIONS)
    with pytest.raises(UnknownNameError, match=r'got "never-ran", wanted all, .* did you mean "never-run"'):
        named(["never-ran"])
