"""The options of ``policy check``."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ...choices import DEFAULT_RELEASE
from ...framework.options import FIELDS, declared_of
from ..options import AskedOptions, Question, option


@attrs.frozen(repr=False)
class PolicyCheckOptions(AskedOptions):
    """Show what runs under the Policy in FILE (-: standard input), and warn of rules that are accepted but
    never run.

    For 1.17 to 1.22, which turn a Policy into plugins, these are shown.

    FILE may also contain a KubeSchedulerConfiguration: one that refers to a Policy or provider (v1alpha1), or
    one with profiles, of any version the release reads; alone, in a ConfigMap, in a List, or among other
    objects. All errors are listed.

    Exit status 0: accepted, 1: refused by the release, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """

    release: str | None = option(
        None,
        f"The release that reads it.  [default: {DEFAULT_RELEASE}; for profiles the newest that reads them]",
        metavar="RELEASE",
    )
    gates: str | None = option(
        None, "Feature gates that differ from the defaults.", flags=("--feature-gates",), metavar="A=true,..."
    )
    rules: Sequence[str] = option(
        (),
        "Your own rules: a Python file or module, and the Catalogue in it.",
        takes="places",
        metavar="FILE.py:NAME",
    )
    unknown_plugins: str | None = option(
        None, declared_of(FIELDS["unknown_plugins"]).help, flags=("--plugins",), takes="plugins"
    )


QUESTION = Question(
    options=PolicyCheckOptions,
    ask="policycheck:policy_check",
    argument="file",
    forms="table,json,html",
    help_of_forms="html: a page.",
    headers=False,
)
