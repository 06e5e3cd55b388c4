"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import click
import yaml

from ..algorithmprovider.config import KIND, KubeSchedulerConfiguration, decode_policy, load_configuration, policy_document
from ..algorithmprovider.gates import parse_gates
from ..algorithmprovider.policy import Policy
from ..algorithmprovider.providers import resolve
from ..algorithmprovider.releases import DEFAULT_RELEASE, find_release
from ..api.documents import read_documents
from ..core.engine import Engine
from ..core.release import Release
from ..framework.config import read_configuration
from ..framework.engine import FrameworkEngine
from ..framework.migrate import migrate
from ..simulation.migration import DIFFERENT, SAME, TIE, LockedRun
from ..simulation.scenario import read_scenario
from .output import note, warn, writing
from .progress import following

FILE = click.Path(path_type=Path, allow_dash=True)


@click.command("migrate", short_help="The Policy as a KubeSchedulerConfiguration.")
@click.argument("file", type=FILE)
@click.option("--release", default=DEFAULT_RELEASE, show_default=True, help="The release that runs it now.")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("-o", "--output", metavar="FILE", help="Write the profile there, whole or not at all, instead of to standard output.")
@click.option("--check", "paths", type=FILE, multiple=True, metavar="PATH", help="Try both on this cluster; more paths may follow.")
@click.argument("more", type=FILE, nargs=-1)
def migrate_policy(
    file: Path, release: str, gates: str | None, output: str | None, paths: tuple[Path, ...], more: tuple[Path, ...]
) -> None:
    """Write what does the work of the Policy in FILE with scheduling plugins, and list on standard error all that has no exact equal.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that points to a Policy; - is standard input. With --check every
    waiting pod is judged twice on the same state, which follows the old release: by it and by the profile. All nodes are looked at.

    Exit status 0: migrated, and under --check both agree; 1: they differ; 2: bad input.

    \b
    kubeclassic policy migrate scheduler.json --release 1.16 -o profile.yaml --check cluster/
    """
    if more and not paths:
        raise click.UsageError(f"got {more[0]} after FILE, wanted --check before it")
    before, policy, config = find_release(release), *_read(file)
    config = attrs.evolve(config, gates={**config.gates, **parse_gates(gates or "")})
    made = migrate(policy, before, config)
    agreed = _agree(_Both(policy, before, config, made.document), (*paths, *more)) if paths else True
    with writing(output) as stream:
        yaml.safe_dump(made.document, stream, sort_keys=False, allow_unicode=True)
    for found in made.notes:
        note(str(found))
    sys.exit(0 if agreed else 1)


def _read(file: Path) -> tuple[Policy | None, KubeSchedulerConfiguration]:
    if str(file) != "-":
        documents = list(read_documents(file))
        if documents and documents[0].data.get("kind") == KIND:
            config = load_configuration(file)
            return config.policy(), config
    return decode_policy(policy_document(file)), KubeSchedulerConfiguration()


# --- both on one cluster --------------------------------------------------------------------------------------------


@attrs.frozen
class _Both:
    policy: Policy | None
    release: Release
    config: KubeSchedulerConfiguration
    profile: Mapping[str, Any]

    def old(self) -> Engine:
        """The old release, looking at all nodes."""
        config = self.config.with_defaults(self.release)
        settings: dict[str, Any] = {"provider": config.source.provider} if config.source.provider else {}
        return Engine(
            resolve(
                self.release, gates=config.gates, policy=self.policy, hard_pod_affinity_weight=config.hard_pod_affinity_weight,
                percentage=100, preemption=not config.disable_preemption, **settings,
            )
        )  # fmt: skip

    def new(self) -> FrameworkEngine:
        """The framework with the profile, looking at all nodes."""
        return FrameworkEngine.of(read_configuration({**self.profile, "percentageOfNodesToScore": 100}), shortlists=False)


def _agree(both: _Both, paths: tuple[Path, ...]) -> bool:
    """Judge the waiting pods, and tell where the two differ."""
    scenario = read_scenario(paths, scheduler_name=both.config.scheduler_name)
    for warning in scenario.warnings:
        warn(warning)
    if both.policy is not None and both.policy.extenders:
        warn(f"the Policy's extenders are not called: {len(both.policy.extenders)}")
    counts: Counter[str] = Counter()
    locked = LockedRun(scenario, both.old(), both.new())
    for found in following(locked.judged(), len(scenario.pending)):
        counts[found.outcome] += 1
        if found.outcome != SAME:
            note(f"{found.outcome}: {found.pod}: {found.old or 'nowhere'} before, {found.new or 'nowhere'} with the profile: {found.why}")
    note(f"{counts.total()} decisions: {counts[SAME]} agree, {counts[TIE]} fall elsewhere among equals, {counts[DIFFERENT]} differ")
    return not counts[DIFFERENT]
