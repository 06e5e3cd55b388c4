"""The options of ``policy migrate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from ...choices import DEFAULT_FRAMEWORK, DEFAULT_RELEASE
from ...framework.options import FIELDS, declared_of
from ..options import AskedOptions, option

if TYPE_CHECKING:
    from ...simulation.input import GivenCluster

WANTED_RELEASE = declared_of(FIELDS["release"]).wanted
_EXTENDERS = declared_of(FIELDS["extenders"])


@attrs.frozen(repr=False)
class MigrateOptions(AskedOptions):
    """How a Policy is translated, and on which cluster that is checked."""

    NEEDS = (("newer_labels", "check"), ("extenders", "check"))

    release: str | None = option(
        None,
        "The release that runs it now; for a Policy, a release without Policies means --to."
        f"  [default: {DEFAULT_RELEASE}; for profiles the newest that reads them]",
        wanted=WANTED_RELEASE,
        metavar="RELEASE",
    )
    to: str = option(
        DEFAULT_FRAMEWORK,
        f"The release that will run the profile.  [default: {DEFAULT_FRAMEWORK}]",
        wanted=WANTED_RELEASE,
        shows=False,
        metavar="RELEASE",
    )
    gates: Mapping[str, bool] | str | None = option(
        None,
        "Feature gates that differ from the defaults.",
        flags=("--feature-gates",),
        metavar="A=true,...",
        types=(str, Mapping),
        wanted=declared_of(FIELDS["gates"]).wanted,
    )
    selector_spread: bool = option(
        False, "Spread pods with plugin SelectorSpread, the old formula (up to 1.28)."
    )
    check: GivenCluster | None = option(
        None,
        "A cluster in which both decide on every pending pod, in the same state.",
        flags=("--check",),
        takes="python",
    )
    newer_labels: bool = option(
        False, "Add the node labels of newer releases for --check, as after an upgrade."
    )
    extenders: str | None = option(
        None,
        _EXTENDERS.help,
        takes="extenders",
        types=(str,),
        wanted=_EXTENDERS.wanted,
        metavar=_EXTENDERS.metavar,
    )
    show: int | None = option(
        20, "List at most N decisions that differ.", least=0, types=(int, type(None)), python=None
    )
