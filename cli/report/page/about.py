"""What a page speaks of: files, counts, warnings, releases, policy, version, date, and the command that repeats it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import attrs

from ....api.words import listed
from ....framework.options import FIELDS, declared_of
from ....framework.releases import ALL_RELEASES, patch_level_in_words
from .markup import Markup, Text, code, element, joined, named
from .parts import bullets

SOURCE_DATE_EPOCH = "SOURCE_DATE_EPOCH"
"""Where it is set, the date of a page is this one (seconds since 1970), so that the same run writes the same bytes."""


SHARED = ("--pods", "--order", "--set", "--cron-jobs", "--no-defaults")
"""The options that say what the cluster is, besides those of the scheduler."""
_ABSOLUTE = re.compile(r"(?<![^\s=,:'\"(>])/(?:[^/\s=,:'\"<]+/)+[^/\s=,:'\"<]+")


def discreet(text: str) -> str:
    """*text* without the folders of its author: a path below the current folder as it is from there, of others the name alone.

    >>> discreet(f"{Path.cwd()}/b.yaml: unknown field"), discreet("zone example.com/zone")
    ('b.yaml: unknown field', 'zone example.com/zone')
    """
    return _ABSOLUTE.sub(lambda found: _nearer(found[0]), text)


def _nearer(path: str) -> str:
    if not os.path.isdir(os.path.dirname(path)):
        return path
    inside = Path(path).is_relative_to(Path.cwd()) and Path(path) != Path.cwd()
    return str(Path(path).relative_to(Path.cwd())) if inside else os.path.basename(path)


def _discreet_texts(texts: Iterable[Text]) -> tuple[Text, ...]:
    return tuple(Markup(discreet(text)) if isinstance(text, Markup) else discreet(text) for text in texts)


@attrs.frozen(kw_only=True, repr=False)
class About:
    """Of what a page speaks; what is empty is left out. Pages are sent around: no text has a folder of their author."""

    inputs: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    """The paths that were read, as they were given."""
    counts: Text = ""
    """What was read in all: nodes, pods that run, pods that wait."""
    warnings: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    unread: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    """What does not count in the outcome, in sentences, which stand under it."""
    releases: tuple[str, ...] = ()
    rules: tuple[Text, ...] = attrs.field(default=(), converter=_discreet_texts)
    """Policies, profiles, gates and other options that choose the rules, as given."""
    version: str = ""
    """Of kubeclassic."""
    date: datetime | None = None
    """When the page was made."""
    command: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    """What repeats it: the words of a command line."""

    def asking(self, question: str, *words: str) -> tuple[str, ...]:
        """The command line that asks another *question* of the same cluster and scheduler.

        >>> about = About(inputs=("c/",), command=("kubeclassic", "simulate", "c/", "--release", "1.27", "--details"))
        >>> " ".join(about.asking("explain", "shop/web-0"))
        'kubeclassic explain c/ shop/web-0 --release 1.27'
        """
        program, given = (self.command or ("kubeclassic",))[0], [*self.command[2:], ""]
        paths = [path for path in self.inputs if ("--pods", path) not in pairwise(given)]
        shared, kept = {flag for field in FIELDS.values() for flag in declared_of(field).flags} | {*SHARED}, list[str]()
        for word, following in pairwise(given):
            if word.partition("=")[0] in shared:
                kept += [word] if "=" in word or following.startswith("-") or following in ("", *paths) else [word, following]
        return (program, question, *paths, *words, *kept)

    def unread_html(self) -> Markup:
        """What does not count, for right under the outcome."""
        return joined((element("p", named(f"{text}."), class_="unread") for text in self.unread), "")

    def short_html(self) -> Markup:
        """One line, for right under the outcome."""
        return element("p", self._short(), class_="soft origin")

    def html(self) -> Markup:
        """The last part of the page: inputs, warnings, and the command that repeats it."""
        lines = [element("div", element("dt", name), element("dd", text)) for name, text in self._lines()]
        heading = element("h2", "What this page is about", id="about")
        return element("section", heading, element("dl", *lines), class_="about", aria_labelledby="about")

    def _short(self) -> Markup:
        inputs = " ".join(self.inputs)
        releases = ("release " if len(self.releases) == 1 else "releases ") + listed(self.releases) if self.releases else ""
        day = f"{self.date:%Y-%m-%d}" if self.date else ""
        parts: list[Text] = [named(inputs) if inputs else "", self.counts, named(releases) if releases else "", named(day) if day else ""]
        warnings = f"{len(self.warnings)} {'warning' if len(self.warnings) == 1 else 'warnings'}"
        parts.append(element("a", warnings, href="#about") if self.warnings else "")
        return Markup(" · ".join(element("span", part) for part in parts if part))

    def _lines(self) -> Iterator[tuple[str, Text]]:
        if self.inputs:
            yield "Read", bullets(element("span", code(path), " ") for path in self.inputs)
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
