"""Bodies of any form: the extender server answers each of them with 2xx or 4xx, in JSON, and goes on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.fuzzing import ANSWER, callers, changed, tried
from tests.support.serverbuild import pod_json


@pytest.mark.whole
@given(seed=st.integers(0, 2**40))
@examples(4)
def test_any_body(seed):
    """No body is answered with 5xx, whatever is wrong with it."""
    assert tried("requests", changed("requests", seed)) == ANSWER


def test_the_answers_afterwards():
    """All of it has changed no answer about the cluster's own nodes, but for what was bound."""
    for caller in callers():
        found = caller.asked("/filter", {"Pod": pod_json("y", cpu="2"), "NodeNames": ["b", "c"]})
        assert found["NodeNames"] == []
