"""Bodies of any form: the extender server answers each of them with 2xx or 4xx, in JSON, and goes on."""

from __future__ import annotations

from hypothesis import given

from tests.support.examples import examples
from tests.support.serverbodies import calls
from tests.support.serverbuild import Caller, pod_json, three_nodes

CALLERS = [Caller.of(three_nodes(release=release)) for release in ("1.12", "1.16", "1.27")]
for caller in CALLERS:
    caller.app.service.cluster.defaults = True


@given(call=calls())
@examples(4)
def test_any_body(call: tuple[str, bytes]) -> None:
    """No body is answered with 5xx, whatever is wrong with it."""
    path, body = call
    for caller in CALLERS:
        found = caller.post(path, body)
        assert 200 <= found.status_code < 300 or 400 <= found.status_code < 500, (found.text, body)
        assert isinstance(found.json(), dict | list)


def test_the_answers_afterwards() -> None:
    """All of it has changed no answer about the cluster's own nodes, but for what was bound."""
    for caller in CALLERS:
        found = caller.asked("/filter", {"Pod": pod_json("y", cpu="2"), "NodeNames": ["b", "c"]})
        assert found["NodeNames"] == []
