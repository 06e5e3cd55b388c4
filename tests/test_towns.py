"""Whatever happens in a small town: memory, little memory, no memory, a look at one node and a newcomer
agree."""

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from kubeclassic.core.incremental import board
from kubeclassic.core.incremental.verify import verifying
from tests.support.examples import examples
from tests.support.towns import PRESSED, RELEASES, Town, days

SETTINGS = examples(0.3, stateful_step_count=30, suppress_health_check=list(HealthCheck))
TELLING = (4, 10, 14, 31, 37, 50)
WHICH = st.integers(0, 63)
VARIANT = st.integers(0, 5)


@pytest.fixture(autouse=True)
def every_step_is_verified():
    """Whatever is kept is also worked out from nothing, each time that it is read."""
    with verifying():
        yield


class TownMachine(RuleBasedStateMachine):
    """A town in which anything can happen at any time; each step raises AssertionError where two ways
    disagree."""

    release = "1.16"

    @initialize(plain=st.booleans(), variants=st.lists(st.integers(0, 63), min_size=1, max_size=6))
    def begin(self, plain, variants):
        self.variants, self.town = variants, Town(self.release, plain)
        self.town.begin()

    def take(self, verb, which, variant):
        """Let something happen in one of the variants of this town: a few, so that equal pods come again and
        again."""
        self.town.take((verb, which, self.variants[variant % len(self.variants)]))

    @rule(verb=st.sampled_from(("node", "drop node", "budget")), which=WHICH, variant=VARIANT)
    def change_the_cluster(self, verb, which, variant):
        self.take(verb, which, variant)

    @rule(verb=st.sampled_from(("come", "leave", "nominate", "withdraw")), which=WHICH, variant=VARIANT)
    def change_its_pods(self, verb, which, variant):
        self.take(verb, which, variant)

    @rule(verb=st.sampled_from(("schedule", "run", "retry")), which=WHICH, variant=VARIANT)
    def decide(self, verb, which, variant):
        self.take(verb, which, variant)

    @rule(verb=st.sampled_from(("look", "watch")), which=WHICH, variant=VARIANT)
    def look(self, verb, which, variant):
        self.take(verb, which, variant)


@pytest.mark.parametrize("release", RELEASES)
class TestTowns:
    def test_all_ways_agree(self, release):
        """After any sequence of events all ways to a decision give the same one."""
        run_state_machine_as_test(type("Machine", (TownMachine,), {"release": release}), settings=SETTINGS)

    def test_all_that_is_kept_is_used(self, release):
        """In such a town most decisions are read off, some pods fit nowhere, preempt others, and wait for a
        node."""
        town = Town(release)
        town.begin()
        evicted = 0
        waited = 0
        for step in days(0, 80):
            town.take(step)
            evicted = len(town.runs[0].evicted)
            waited = waited + bool(town.engine.nominations)
        assert sum(path.taken for path in town.engine.flow.quick_paths.values()) > 20
        assert evicted
        assert waited

    @pytest.mark.parametrize("seed", TELLING)
    def test_days_that_told(self, release, seed):
        """In some towns a fault of what is kept showed soon, by verify mode or as the schedulers
        disagreed."""
        town = Town(release)
        town.begin()
        for step in days(seed, 60):
            town.take(step)

    @pytest.mark.parametrize("most", [-1, 1 << 20])
    def test_rows_one_by_one_or_in_classes(self, release, most, monkeypatch):
        """All agree where the rows that moved are looked at one by one, or never are; such towns are often
        full."""
        monkeypatch.setattr(board, "MOST_MOVED", most)
        monkeypatch.setattr(board, "ROWS_A_MOVE", 1 << 20)
        town = Town(release, plain=True)
        town.begin()
        for step in days(most, 30, PRESSED):
            town.take(step)
