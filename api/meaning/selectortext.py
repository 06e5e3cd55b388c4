"""Label selectors as kubectl takes them (``-l``): ``app=web,tier in (front,back),!canary``."""

from __future__ import annotations

import re

from ..objects import LabelSelector, Requirement
from .labels import Matcher, SelectorError, compile_selector

_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
_PAIR = re.compile(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)")
_KEY = re.compile(r"(!?)\s*([^\s=!()]+)")
_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn"}


def parse_selector(text: str) -> Matcher:
    """The test that *text* describes; an empty one matches everything. Raises :class:`SelectorError`.

    >>> chosen = parse_selector("app=web, tier in (front, back), !canary")
    >>> chosen({"app": "web", "tier": "back"}), chosen({"app": "web", "tier": "back", "canary": ""})
    (True, False)
    """
    parts = re.split(r",(?![^(]*\))", text) if text.strip() else []
    return compile_selector(LabelSelector(match_expressions=tuple(_requirement(part.strip()) for part in parts)))


def _requirement(part: str) -> Requirement:
    if found := _SET.fullmatch(part):
        key, operator, inside = found.groups()
        values = tuple(value.strip() for value in inside.split(",")) if inside.strip() else ()
        return Requirement(key=key, operator=_OPERATORS[operator], values=values)
    if found := _PAIR.fullmatch(part):
        key, operator, value = found.groups()
        return Requirement(key=key, operator=_OPERATORS[operator], values=(value,))
    if found := _KEY.fullmatch(part):
        return Requirement(key=found[2], operator="DoesNotExist" if found[1] else "Exists")
    raise SelectorError(f'got "{part}", wanted KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY')
