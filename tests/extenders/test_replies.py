"""Extenders' replies are read by their shape; another shape is an error in one line."""

import pytest

from kubeclassic.exceptions import ExtenderError
from kubeclassic.extenders.extender import (
    FAULT,
    ChosenVictims,
    FilterAnswer,
    Named,
    NodeItems,
    PreemptAnswer,
    ScoreAnswer,
    read_reply,
)


@pytest.mark.parametrize(
    "body, kind, wanted",
    [
        (
            b' {"NODENAMES": ["a", null], "other": 1} {"b": 2}',
            FilterAnswer,
            FilterAnswer(nodenames=["a", None]),
        ),
        (
            b'{"Nodes": {"Items": [{"metadata": {"name": "N"}}]}}',
            FilterAnswer,
            FilterAnswer(nodes=NodeItems([{"metadata": {"name": "N"}}])),
        ),
        (b'{"failedNodes": {"Node-A": "no"}}', FilterAnswer, FilterAnswer(failednodes={"Node-A": "no"})),
        (b'[{"Host": "a", "score": 3}, null]', list[ScoreAnswer | None], [ScoreAnswer("a", 3), None]),
        (
            b'{"NodeNameToMetaVictims": {"N": {"Pods": [{"UID": "x"}]}, "M": null}}',
            PreemptAnswer,
            PreemptAnswer({"N": ChosenVictims([Named("x")]), "M": None}),
        ),
        (b"null", FilterAnswer, None),
        (b'{"Error": "\xff"}', FilterAnswer, FilterAnswer(error="\ufffd")),
    ],
)
def test_what_is_read(body, kind, wanted):
    """Names of fields count in any case, names of nodes in theirs; nulls are empty, and what comes after the
    value is not read."""
    assert read_reply(body, kind) == wanted


@pytest.mark.parametrize(
    "body, said",
    [
        (b"", "no JSON"),
        (b"<html>", "no JSON"),
        (b'{"NodeNames": [', "no JSON"),
        (b'{"Error": NaN}', "no JSON"),
        (b'"text"', "another form"),
        (b'{"NodeNames": [1]}', "another form"),
        (b'{"Nodes": {"items": ["a"]}}', "another form"),
        (b'{"Nodes": {"MetaData": "a"}}', "another form"),
        (b"[" * 100_000, "JSON that is nested too deeply"),
    ],
)
def test_what_is_no_reply(body, said):
    """A fault says what came."""
    with pytest.raises(ExtenderError) as failed:
        read_reply(body, FilterAnswer)
    assert str(failed.value).startswith(f"{FAULT}{said}")


@pytest.mark.parametrize("score", ["1.5", "1e30", "9223372036854775808"])
def test_scores_are_whole(score):
    """A score is a whole number of 64 bits."""
    with pytest.raises(ExtenderError, match="another form"):
        read_reply(b'[{"Host": "a", "Score": %s}]' % score.encode(), list[ScoreAnswer | None])
