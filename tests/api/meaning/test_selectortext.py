"""Label selectors as text, as kubectl reads them."""

import pytest

from kubeclassic.api.meaning.labels import SelectorError, parse_selector

WEB = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app == web", True),
        ("app=db", False),
        ("app!=db", True),
        ("zone!=a", True),
        ("zone=", False),
        ("tier in (front,back)", True),
        ("tier notin (front , back)", False),
        ("zone notin (a)", True),
        ("app", True),
        ("!app", False),
        ("!zone", True),
        ("app=web,tier in (front, back),!zone", True),
        ("app=web,tier=back", False),
    ],
)
def test_a_selector_matches(text, matches):
    """Equality, sets and presence, all of which must hold; what must not be equal may be missing."""
    assert parse_selector(text)(WEB) is matches


@pytest.mark.parametrize(
    "text", ["app=web,", "a in b", "a in ()", "=web", "a=b=c", "a b", "in (x)", "app in (web", "-a=b"]
)
def test_a_broken_selector_is_refused(text):
    """What is no selector is an error, no silent match."""
    with pytest.raises(SelectorError):
        parse_selector(text)
