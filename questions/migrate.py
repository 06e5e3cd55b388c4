"""``kubeclassic.migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import attrs
import yaml

from ..algorithmprovider.config import (
    KIND,
    AlgorithmConfiguration,
    read_configuration,
    read_policy_file,
)
from ..algorithmprovider.gates import parse_gates
from ..algorithmprovider.policy import Policy, read_policy
from ..algorithmprovider.releases import DEFAULT_RELEASE, find_release
from ..api.reading.notices import Notice, grouped
from ..api.view import View, table_of
from ..exceptions import UnknownNameError, check_type, wrong_type
from ..framework.migrate.deviations import named
from ..framework.migrate.translation import migrate as translate
from ..framework.options import FIELDS, declared_of
from ..framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, framework_release
from ..simulation.compare.migration import Check, agrees
from ..simulation.compare.newerlabels import with_newer_labels
from ..simulation.input import GivenCluster, scenario_of, warnings_of
from .compare import CompareResult
from .result import Result

if TYPE_CHECKING:
    from ..framework.options import GivenPolicy

Read = tuple[Policy | None, AlgorithmConfiguration]

WANTED_RELEASE = declared_of(FIELDS["release"]).wanted


@attrs.frozen(eq=False, repr=False)
class MigrateResult(Result):
    """A profile, what has no exact equivalent, and, where it was checked, how often both decide the same."""

    profile: dict[str, Any]
    """A KubeSchedulerConfiguration in its JSON form: what ``Scheduler(cluster, profile=...)`` takes."""
    notes: tuple[str, ...]
    comparison: CompareResult | None = None
    """The release (``policy``) beside the profile (``profile``), on the cluster that was given."""
    ok: bool = True
    """Whether no decision is different, or none was checked."""

    def yaml(self) -> str:
        """The profile as YAML."""
        text: str = yaml.safe_dump(self.profile, sort_keys=False, allow_unicode=True)
        return text

    @property
    def document(self) -> dict[str, Any]:
        return dict(self.profile)

    def view(self) -> View:
        notes = table_of("notes", [{"note": note} for note in self.notes], ("note",))
        facts = {"notes": len(self.notes), "agrees": None if self.comparison is None else self.ok}
        if self.comparison is None:
            verdict = "The Policy as a profile; no cluster was given to check it on."
            return View(title=type(self).__name__, verdict=verdict, facts=facts, tables=[notes])
        checked = self.comparison.view()
        first = "No decision is different under the profile." if self.ok else "The profile does not decide as the Policy does."
        return View(
            title=type(self).__name__, verdict=f"{first} {checked.verdict}", facts=facts, shares=checked.shares,
            tables=[notes, *checked.tables],
        )  # fmt: skip



def migrate(
    policy: GivenPolicy, release: str = DEFAULT_RELEASE, *, to: str = DEFAULT_FRAMEWORK, gates: Mapping[str, bool] | str | None = None,
    without: Collection[str] = (), selector_spread: bool = False, check: GivenCluster | None = None, newer_labels: bool = False,
) -> MigrateResult:  # fmt: skip
    """Translate *policy*, as *release* runs it, to a profile of plugins.

    :param policy: a Policy, a ConfigMap that holds one, or a KubeSchedulerConfiguration (v1alpha1) that points to one: a file, or its
        JSON form.
    :param release: the release that runs it now.
    :param to: the release that is to run the profile.
    :param gates: the feature gates that differ from the release's defaults.
    :param without: points that are translated as upstream did it; ``kubeclassic policy migrate --help`` names them.
    :param selector_spread: spread pods with plugin SelectorSpread, which has the old formula.
    :param check: a cluster on which both decide on every pod that waits, on the same state.
    :param newer_labels: check with the node labels of newer releases beside the old ones, as after an upgrade.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    check_type("release", release, str, WANTED_RELEASE)
    check_type("to", to, str, WANTED_RELEASE)
    check_type("gates", gates, (str, Mapping, NoneType), declared_of(FIELDS["gates"]).wanted)
    target = framework_release(to)
    if target is None:
        raise UnknownNameError(f"to: got {to}, wanted {', '.join(FRAMEWORK_RELEASES)}")
    before, (written, config) = find_release(release), _read(policy)
    switches = parse_gates(gates) if isinstance(gates, str) else dict(gates or {})
    config = attrs.evolve(config, gates={**config.gates, **switches})
    made = translate(written, before, config, target=target, without=named(without), selector_spread=selector_spread)
    notes = tuple(str(note) for note in made.notes)
    if check is None:
        return MigrateResult(made.document, notes)
    scenario = scenario_of(check, scheduler_names=[config.scheduler_name])
    asked = Check(written, before, config, made.document, target=target)
    warnings = warnings_of(scenario, before.version, asked.old(), asked.new())
    doubts = grouped(Notice("", text) for text in asked.warnings(scenario, newer_labels))
    found = asked.on(with_newer_labels(scenario) if newer_labels else scenario)
    return MigrateResult(made.document, notes, CompareResult.of(found, (*warnings, *doubts)), agrees(found))


def _read(given: GivenPolicy) -> Read:
    if isinstance(given, Policy):
        return given, AlgorithmConfiguration()
    if isinstance(given, Mapping):
        if given.get("kind") != KIND:
            return read_policy(given), AlgorithmConfiguration()
        config = read_configuration(given)
        return config.policy(), config
    if not isinstance(given, str | os.PathLike):
        raise wrong_type("policy", given, declared_of(FIELDS["policy"]).wanted)
    found = read_policy_file(Path(given))
    return found.policy, found.config
