"""The origin of a page: files, counts, warnings, releases, policy, version, date, and the command that
repeats it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import attrs

from ....api.view import CodeText, Part
from ....api.words import listed
from ....framework.options import FIELDS, declared_of
from ....framework.releases import ALL_RELEASES, patch_level_in_words

SHARED = ("--pods", "--order", "--set", "--cron-jobs", "--no-defaults")
"""The options that say what the cluster is, besides those of the scheduler."""
_ABSOLUTE = re.compile(r"(?<![^\s=,:'\"(>])/(?:[^/\s=,:'\"<]+/)+[^/\s=,:'\"<]+")


def discreet(text: str) -> str:
    """*text* without the folders of its author: a path below the current folder as it is from there, of
    others the name alone.

    >>> discreet(f"{Path.cwd()}/b.yaml: unknown field"), discreet("zone example.com/zone")
    ('b.yaml: unknown field', 'zone example.com/zone')
    """

    def nearer(found: re.Match[str]) -> str:
        path = Path(found[0])
        here = Path.cwd()
        if not path.parent.is_dir():
            return found[0]
        return str(path.relative_to(here)) if path.is_relative_to(here) and path != here else path.name

    return _ABSOLUTE.sub(nearer, text)


def _discreet_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(discreet, texts))


@attrs.frozen(kw_only=True, repr=False)
class About:
    """Of what a page speaks; what is empty is left out. Pages are sent around: no text has a folder of their
    author."""

    inputs: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    """The paths that were read, as they were given."""
    counts: str = ""
    """What was read in all: nodes, pods that run, pods that wait."""
    warnings: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    unread: tuple[str, ...] = attrs.field(default=(), converter=_discreet_texts)
    """What does not count in the outcome, in sentences, which stand under it."""
    releases: tuple[str, ...] = ()
    rules: tuple[Part, ...] = ()
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
        program = (self.command or ("kubeclassic",))[0]
        given = [*self.command[2:], ""]
        paths = [path for path in self.inputs if ("--pods", path) not in pairwise(given)]
        shared = {flag for field in FIELDS.values() for flag in declared_of(field).flags} | {*SHARED}
        kept = []
        for word, following in pairwise(given):
            if word.partition("=")[0] in shared:
                kept += (
                    [word]
                    if "=" in word or following.startswith("-") or following in ("", *paths)
                    else [word, following]
                )
        return (program, question, *paths, *words, *kept)

    @property
    def title(self) -> str:
        """Of the window: the program and its question."""
        return " ".join(self.command[: 3 if "policy" in self.command[1:2] else 2]) or "kubeclassic"

    def short(self) -> list[str]:
        """The origin in a line, for right under the outcome."""
        if self.releases:
            releases = ("release " if len(self.releases) == 1 else "releases ") + listed(self.releases)
        else:
            releases = ""
        day = f"{self.date:%Y-%m-%d}" if self.date else ""
        return [part for part in (" ".join(self.inputs), self.counts, releases, day) if part]

    def lines(self) -> Iterator[tuple[str, str, Sequence[Part]]]:
        """The last part of the page, line by line: a name, ``list``, ``text`` or ``command``, and what stands
        there."""
        if self.inputs:
            yield "Read", "list", [CodeText(path) for path in self.inputs]
        if self.releases:
            known = (
                f"{name} ({patch_level_in_words(name)})" if name in ALL_RELEASES else name
                for name in self.releases
            )
            yield "Release", "list", list(known)
        if self.rules:
            yield "Rules", "list", [discreet(rule) if isinstance(rule, str) else rule for rule in self.rules]
        yield "Warnings", "list" if self.warnings else "text", self.warnings or ["none"]
        if self.date is not None:
            yield (
                "Made",
                "text",
                [
                    f"{self.date:%Y-%m-%d %H:%M} UTC"
                    + (f" by kubeclassic {self.version}" if self.version else "")
                ],
            )
        if self.command:
            yield "Repeat it with", "command", [shlex.join(self.command)]


def made_at(environment: Mapping[str, str] | None = None) -> datetime:
    """Now in UTC, or what ``SOURCE_DATE_EPOCH`` says."""
    given = (os.environ if environment is None else environment).get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
