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
    """Translate the Policy in FILE to a profile of plugins, and list on standard error what has no exact
    equivalent.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that refers to a Policy; -: standard
    input. A KubeSchedulerConfiguration with profiles is kept, moved to another version, or, where plugins are
    gone or defaults differ, written out with every plugin that runs. For 1.18 to 1.22 a Policy becomes the
    profile that this release makes of it.

    With --check the old release and the profile both decide on every pending pod, in the same state, and only
    the decisions of the old release take effect. All nodes are evaluated. A decision is the same; or equally
    good: another node that the old release scores just as high; or different. --report FILE has
    everything for an audit: Policy, profile, notes, comparison, and what to do next. Notes name deviations
    from upstream's own translation in 1.19 to 1.22.

    Exit status 0: migrated, and with --check no decision differs; 1: some do; 2: bad input.

    \b
    kubeclassic policy migrate scheduler.json --release 1.16 --to 1.36 --output profile.yaml --check cluster/
    """

    NEEDS = (("newer_labels", "check"), ("extenders", "check"), ("show", "check"))

    release: str | None = option(
        None,
        "The release that runs it now; for a Policy, a release without Policies means --to."
        f"  [default: {DEFAULT_RELEASE}; for profiles the newest that reads them]",
        wanted=WANTED_RELEASE,
        metavar="RELEASE",
    )
    to: str | None = option(
        None,
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
