"""What a page speaks of: files, counts, warnings, releases, policy, version, date, and the command that repeats it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import attrs

from ....api.words import listed
from ....framework.releases import ALL_RELEASES, patch_level_in_words
from .markup import Markup, Text, code, element, joined, named
from .parts import bullets, folded

SOURCE_DATE_EPOCH = "SOURCE_DATE_EPOCH"
"""Where it is set, the date of a page is this one (seconds since 1970), so that the same run writes the same bytes."""


@attrs.frozen(repr=False)
class SourceFile:
    """Something that was read."""

    name: str
    """As it was given."""
    text: Text = ""
    """What is in it, such as counts."""


@attrs.frozen(kw_only=True, repr=False)
class About:
    """Of what a page speaks; what is empty is left out."""

    inputs: tuple[SourceFile, ...] = ()
    counts: Text = ""
    """What was read in all: nodes, pods that run, pods that wait."""
    warnings: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """What does not count in the outcome, in sentences, which stand under it."""
    releases: tuple[str, ...] = ()
    rules: tuple[Text, ...] = ()
    """Policies, profiles, gates and other options that choose the rules, as given."""
    version: str = ""
    """Of kubeclassic."""
    date: datetime | None = None
    """When the page was made."""
    command: tuple[str, ...] = ()
    """What repeats it: the words of a command line."""

    def unread_html(self) -> Markup:
        """What does not count, for right under the outcome."""
        return joined((element("p", named(f"{text}."), class_="unread") for text in self.unread), "")

    def html(self) -> Markup:
        """The part of the page: one line, and the details folded."""
        lines = [element("div", element("dt", name), element("dd", text)) for name, text in self._lines()]
        body = [folded("Inputs, warnings and the command that repeats it", element("dl", *lines))] if lines else []
        heading = element("h2", "What this page is about", id="about")
        return element("section", heading, element("p", self._short(), class_="soft"), *body, class_="about", aria_labelledby="about")

    def _short(self) -> Markup:
        inputs = " ".join(one.name for one in self.inputs)
        releases = ("release " if len(self.releases) == 1 else "releases ") + listed(self.releases) if self.releases else ""
        day = f"{self.date:%Y-%m-%d}" if self.date else ""
        parts: list[Text] = [named(inputs) if inputs else "", self.counts, named(releases) if releases else "", named(day) if day else ""]
        parts.append(f"{len(self.warnings)} {'warning' if len(self.warnings) == 1 else 'warnings'}" if self.warnings else "")
        return Markup(" · ".join(element("span", part) for part in parts if part))

    def _lines(self) -> Iterator[tuple[str, Text]]:
        if self.inputs:
            yield "Read", bullets(element("span", code(one.name), " ", one.text) for one in self.inputs)
        if self.releases:
            known = (f"{name} ({patch_level_in_words(name)})" if name in ALL_RELEASES else name for name in self.releases)
            yield "Release", bullets(map(named, known))
        if self.rules:
            yield "Rules", bullets(self.rules)
        yield "Warnings", bullets(map(named, self.warnings)) if self.warnings else "none"
        if self.date is not None:
            yield "Made", named(f"{self.date:%Y-%m-%d %H:%M} UTC" + (f" by kubeclassic {self.version}" if self.version else ""))
        if self.command:
            yield "Repeat it with", element("pre", code(shlex.join(self.command)))


def made_at(environment: Mapping[str, str] | None = None) -> datetime:
    """Now in UTC, or what ``SOURCE_DATE_EPOCH`` says."""
    given = (os.environ if environment is None else environment).get(SOURCE_DATE_EPOCH, "")
    return datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
