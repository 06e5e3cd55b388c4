"""Who fares how, by name, and what to do next: what stands right under the verdict, and on the first sheet of paper."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import attrs

from ....api.view import CHANGES, MEANINGS
from .about import About
from .markup import Markup, Text, code, element, named, number, sentence
from .parts import tag

NAMED = 16
"""That many pods are named; the others are counted."""


@attrs.frozen
class PodOutcome:
    """A pod, and what became of it."""

    pod: str
    change: str = attrs.field(validator=attrs.validators.in_(CHANGES))
    why: Text = ""

    def html(self) -> Markup:
        """One line."""
        word, meaning = CHANGES[self.change]
        why = [element("span", self.why if isinstance(self.why, Markup) else named(self.why), class_="soft")] if self.why else []
        return element("li", tag(word, MEANINGS[meaning]), " ", element("b", named(self.pod)), *why)


def next_step(text: Text, command: Sequence[str] = ()) -> Markup:
    """Something to do, and the command that does it."""
    return element("li", text, *([" ", code(shlex.join(command))] if command else []))


def help_step(pod: str, about: About) -> Markup:
    """To ask what would help *pod*."""
    return next_step(sentence("What would help ", named(pod), ":"), about.asking("explain", pod, "--what-if"))


def who_html(title: str, pods: Sequence[PodOutcome], rest: str = "") -> Markup:
    """The *pods* by name, nothing if there is none; *rest*: where in the page all of them are, as what stands after ``#``."""
    if not pods:
        return Markup("")
    left = len(pods) - NAMED
    link = element("a", f"{number(left)} more", href=f"#{rest}") if rest else f"{number(left)} more"
    more = [element("li", link)] if left > 0 else []
    lines = element("ul", *(one.html() for one in pods[:NAMED]), *more)
    return element("section", element("h2", title, id="who"), lines, class_="who", aria_labelledby="who")


def next_html(steps: Sequence[Markup]) -> Markup:
    """What to do next."""
    lines = element("ul", *steps)
    return element("section", element("h2", "What to do next", id="next"), lines, class_="next", aria_labelledby="next")
