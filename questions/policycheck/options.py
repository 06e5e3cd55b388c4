"""The options of ``policy check``."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ...choices import DEFAULT_RELEASE
from ...framework.options import FIELDS, declared_of
from ..options import AskedOptions, Question, option


@attrs.frozen(repr=False)
class PolicyCheckOptions(AskedOptions):
    """Show what runs under the Policy in FILE (- is standard input), with warnings of what is accepted but never runs.

    From 1.17 to 1.22 a release makes plugins of a Policy; then these are shown.

    FILE may also hold a KubeSchedulerConfiguration: one that points to a Policy or names a provider (v1alpha1), or one with profiles, of
    any version that the release reads. Either may be in a ConfigMap, in a List, or beside other objects. Every fault is listed, not the
    first alone.

    Exit status 0: accepted, 1: the release refuses it, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """

    release: str | None = option(
        None, f"The release that is to read it.  [default: {DEFAULT_RELEASE}; of profiles the newest that reads them]",
        metavar="RELEASE",
    )  # fmt: skip
    gates: str | None = option(None, "Gates that differ from the release's defaults.", flags=("--feature-gates",), metavar="A=true,...")
    rules: Sequence[str] = option(
        (), "Your own rules: a Python file or module, and the Catalogue in it.", takes="places", metavar="FILE.py:NAME",
    )  # fmt: skip
    unknown_plugins: str | None = option(
        None, declared_of(FIELDS["unknown_plugins"]).help, flags=("--plugins",), takes="plugins",
    )  # fmt: skip


QUESTION = Question(
    options=PolicyCheckOptions, ask="policycheck:policy_check", argument="file", forms=("table", "json", "html"),
    told_forms="html: a page.", headers=False,
)  # fmt: skip
