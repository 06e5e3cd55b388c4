"""Whatever a file holds: an answer or a documented error, soon, and without much memory."""

import resource

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.fuzzing import ANSWER, ENTRY_POINTS, REFUSED, changed, seeds, tried

MEMORY = 500 << 10
"""KiB more than before."""


@pytest.mark.parametrize("entry", ENTRY_POINTS)
class TestChangedInput:
    def test_the_seeds_are_good(self, entry):
        """Input that was not changed gives an answer."""
        # A configuration names files that only the reader of the example has.
        assert {tried(entry, content) for content in seeds(entry)} <= (
            {ANSWER, REFUSED} if entry in ("side", "policy") else {ANSWER}
        )

    @examples(1, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 2**40))
    def test_changed_input(self, entry, seed):
        """Changed input gives an answer or one line that says what is wrong."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert tried(entry, changed(entry, seed)) in (ANSWER, REFUSED)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(content):
    """Any bytes at all give objects or one line that says what is wrong."""
    assert tried("manifests", content) in (ANSWER, REFUSED)
