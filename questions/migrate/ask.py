"""A Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from ...algorithmprovider.config import (
    KIND,
    AlgorithmConfiguration,
    has_profiles,
    read_configuration,
    read_policy_file,
)
from ...algorithmprovider.extenders import UncalledExtender
from ...algorithmprovider.gates import parse_gates, server_rules
from ...algorithmprovider.policy import Policy, decoded, notes_on_form, read_policy, resolve
from ...algorithmprovider.releases import DEFAULT_RELEASE
from ...api.meaning import ServerRules
from ...api.reading import without_secrets
from ...api.reading.formats.yamlvalues import yaml_text
from ...api.record import Count, Names, Record
from ...api.view import Item, NextStep, Section, Table, Verbatim, View, block, on_page, tables
from ...api.words import count_of
from ...core.cycle import Algorithm
from ...core.engine import Engine
from ...core.release import Release
from ...exceptions import PolicyError, UnknownNameError, wrong_type
from ...extenders.choice import ConfiguredExtenders
from ...framework.config.configuration import KubeSchedulerConfiguration, unread_of_first
from ...framework.config.configuration import read_configuration as read_profiles
from ...framework.migrate.frompolicy import SPREAD_BY_SELECTOR, listed
from ...framework.migrate.frompolicy import migrate as translate
from ...framework.migrate.profiles import Migration, Note, carried, migrate_profile, running, target_release
from ...framework.options import FIELDS, declared_of
from ...framework.policy import release_with_policies
from ...framework.profilecheck import check_runs, release_with_profiles
from ...framework.releases import ALL_RELEASES, DEFAULT_FRAMEWORK, framework_release
from ...framework.schedulerspec import build_engine, refusals
from ...simulation.input import ComparisonInput, scenario_of
from ...simulation.simulate import Scenario
from ..asking import NOTHING_TRIED, SILENT, Observer, Result, asked_by
from ..compare.ask import (
    CompareResult,
    agreement_lines,
    cause_table,
    cause_text,
    decision_text,
    with_newer_labels,
    zones_warning,
)
from ..compare.comparison import Comparison, ConfigurationPair, compare, in_error, reasons_of
from .options import MigrateOptions

if TYPE_CHECKING:
    from ...framework.options import GivenPolicy


Json = Mapping[str, Any]
POLICY = "policy"
PROFILE = "profile"
"""The names of the two sides of the check."""
EVERY_NODE = 100
"""percentageOfNodesToScore of both sides: with all nodes in view only the rules can differ."""


class MigrationReport(Record):
    """The report of a migration: what was translated, and what it became."""

    release: str
    target: str
    newer_labels: bool
    policy: dict[str, Any] | None
    """The Policy or profile that was given, in its JSON form, without credentials."""
    profile: dict[str, Any]
    notes: tuple[Note, ...]
    source: Literal["Policy", "profile"] = "Policy"
    """The kind of the given document."""
    left_out: Count = 0
    """Extenders of the document that the check did not call."""


@attrs.frozen(kw_only=True, repr=False)
class Migrating:
    """A migration: the input, and the way of translating it."""

    policy: Policy | None
    """The Policy; None: the provider of *config*."""
    config: AlgorithmConfiguration
    written: Json | None = None
    """The Policy in its JSON form."""
    release: Release
    target: Release
    selector_spread: bool = False
    max_pd_vols: int | None = None

    profile: Json | None = None
    """A KubeSchedulerConfiguration in its JSON form, in place of a Policy."""
    extenders: str | None = None
    """How the check calls the extenders that are named; None: not at all."""
    place: str = ""
    """The file that a refusal is about."""

    # --- the check: the old release and the profile judge each waiting pod on the same state ----------------

    def engines(self, document: Json) -> dict[str, Engine]:
        """The schedulers of the old release, and of the target with the migrated profile *document*; both
        look at all nodes."""
        release = self.release
        config = self.config
        before = self.profile
        old: Algorithm | KubeSchedulerConfiguration
        if before is not None:
            old = _on_all_nodes(before, release, config.gates)
        elif release.policies is not None:
            old = running(self.policy, release, config, EVERY_NODE)
        else:
            config = config.with_defaults(release)
            settings: dict[str, Any] = {"provider": config.source.provider} if config.source.provider else {}
            old = resolve(
                release,
                gates=config.gates,
                policy=self.policy,
                hard_pod_affinity_weight=config.hard_pod_affinity_weight,
                percentage=EVERY_NODE,
                preemption=not config.disable_preemption,
                **settings,
            )
        extenders = ConfiguredExtenders(self.extenders)
        configurations = {POLICY: old, PROFILE: _on_all_nodes(document, self.target)}
        return {
            name: build_engine(
                configuration,
                max_pd_vols=self.max_pd_vols,
                extenders=extenders,
                leaves_uncalled=extenders.how is None,
                counts_images_late=True,
            )
            for name, configuration in configurations.items()
        }

    def checked(
        self, scenario: Scenario, engines: Mapping[str, Engine], observer: Observer = SILENT
    ) -> Comparison:
        """The comparison of the new *engines* on *scenario*, whose state follows the old release."""
        texts = {
            POLICY: f"release={self.release.version}",
            PROFILE: f"release={self.target.version}, the migrated profile",
        }
        return compare(scenario, engines, texts=texts, observer=observer)

    # --- the translation ------------------------------------------------------------------------------------

    @property
    def scheduler_names(self) -> list[str]:
        """The schedulerNames of its pods. Raises :class:`~kubeclassic.exceptions.PolicyError` for a profile
        that is refused."""
        if self.profile is None:
            return [self.config.scheduler_name]
        return [
            profile.scheduler_name or ""
            for profile in read_profiles(self.profile, self.config.gates, self.release).profiles
        ]

    @property
    def server(self) -> ServerRules:
        """The admission of new pods, by an API server of the old release."""
        return server_rules(self.release, self.config.gates)

    def translated(self) -> Migration:
        """The translation; raises :class:`~kubeclassic.exceptions.PolicyError`, with a hint where one is
        known."""
        target = self.target
        config = self.config
        release = self.release
        with refusals(self.place, release, config.gates):
            if self.profile is not None:
                check_runs(read_profiles(self.profile, config.gates, release))
                migration = carried(self.profile, release, target, config.gates)
                text = (
                    f"kept, but {target.version} has no such plugin: it has to be compiled into the scheduler"
                )
                foreign = check_runs(read_profiles(migration.document, None, target))
                return attrs.evolve(
                    migration, notes=(*migration.notes, *(Note(name, text) for name in foreign))
                )
            policy = self.policy and decoded(self.policy, release)
            plugins = running(policy, release, config) if release.policies is not None else None
            if plugins is None:
                config.resolve(release, policy=policy)
            if target.configuration.lists_points:
                migration = listed(policy, config, target)
            elif plugins is not None:
                migration = migrate_profile(plugins, target)
            else:
                migration = translate(
                    policy, release, config, target=target, selector_spread=self.selector_spread
                )
            try:
                check_runs(read_profiles(migration.document, None, target))
            except PolicyError as error:
                raise PolicyError(f"{target.version} refuses the migrated profile: {error}") from None
            return migration


def _on_all_nodes(
    document: Json, release: Release, gates: Mapping[str, bool] | None = None
) -> KubeSchedulerConfiguration:
    config = read_profiles({**document, "percentageOfNodesToScore": EVERY_NODE}, gates, release)
    return attrs.evolve(
        config, profiles=tuple(attrs.evolve(profile, percentage=None) for profile in config.profiles)
    )


def agrees(comparison: Comparison) -> bool:
    """Whether every decision is the same or equally good, and no extender ends one in an error. Equally good:
    another node that the old release scores as high."""
    agreement = comparison.agreements[PROFILE]
    fails = agreement.counts["errors"] > 0 and any(
        not isinstance(extender, UncalledExtender) for extender in agreement.first.engine.algorithm.extenders
    )
    return not agreement.counts["different"] and not agreement.counts["gated"] and not fails


@attrs.frozen(eq=False, repr=False)
class MigrateResult(Result):
    """A profile, notes on parts without an exact equivalent, and, if checked, how often both decide the
    same."""

    profile: dict[str, Any]
    """A KubeSchedulerConfiguration in its JSON form, as ``Scheduler(cluster, profile=...)`` takes it."""
    notes: Names
    report: MigrationReport
    comparison: CompareResult | None = None
    """The comparison of the release (``policy``) with the profile (``profile``) on the given cluster."""
    ok: bool = True
    """Whether no decision is different, or none was checked."""
    show: int | None = None
    """How many different decisions text lists; None: all."""

    def yaml(self) -> str:
        """The profile as YAML."""
        return yaml_text(self.profile, allow_unicode=True)

    @property
    def document(self) -> dict[str, Any]:
        return dict(self.profile)

    def _view(self) -> View:
        facts = {
            "notes": len(self.notes),
            "agrees": None if self.comparison is None else self.ok,
            "extenders left out": self.report.left_out or None,
        }
        notes = Table("notes", "note", [[note] for note in self.notes], forms="data")
        if self.comparison is None:
            verdict = f"The {self.report.source} as a profile for {self.report.target}; no cluster was given to check it on."
            return View(verdict=verdict, facts=facts, sections=tables(notes))
        checked = self.comparison.view()
        pair = self.comparison.document.against[0]
        causes = cause_table(pair)
        steps = list(next_steps(self.report, pair))
        different = []
        differing = [
            difference
            for difference in self.comparison.differences
            if difference.causes[PROFILE].verdict == "different"
        ]
        for difference in differing[: self.show]:
            before, after = (decision_text(difference.decisions[name]) for name in (POLICY, PROFILE))
            different.append(
                f"different: {difference.pod}: {before} before, {after} with the profile: {cause_text(difference.causes[PROFILE])}"
            )
        if self.show is not None and len(differing) > self.show:
            different.append(
                f"{len(differing) - self.show} more are different; --report FILE has all, with both tables"
            )
        text: list[Iterable[Item | str]] = [
            [f"{_verdict(self.report, pair)}."],
            ["What to do next:", *(f"  {step}" for step in steps)],
            self.notes,
            different,
            [causes],
            agreement_lines(pair),
        ]
        file = "File this page: it holds all that the check has read and found, and the profile at its end."
        locked = f"Both decide on the same state each time; only the decisions of {self.report.release} take effect."
        return View(
            verdict=_verdict(self.report, pair),
            lead=[locked],
            facts=facts,
            shares=checked.shares,
            who=checked.who,
            next=[*(NextStep(step) for step in steps), NextStep(file)],
            main="notes",
            sections=[
                *(block(*part) for part in text),
                *tables(notes, checked.table("pods")),
                *(attrs.evolve(section, forms="page") for section in checked.sections),
                *self._page_sections(),
            ],
        )

    def _page_sections(self) -> Iterator[Section]:
        """The translation: notes, the given document, and the profile."""
        report = self.report
        none = "" if report.notes else f"Each part of the {report.source} has an exact equivalent."
        columns = f"part of the {report.source} | name; what becomes of it; upstream's own translation"
        rows = [[note.subject, note.text, note.upstream] for note in report.notes]
        notes = Table("notes", columns, rows, forms="page")
        yield Section("Notes on the translation", [*on_page(none), notes], name="notes")
        missing = "" if report.policy is not None else "There is none: a provider's rules run."
        texts = [] if missing else [Verbatim(report.source.capitalize(), json.dumps(report.policy, indent=2))]
        yield Section(
            "The Policy" if report.source == "Policy" else "The older profile",
            [*on_page(missing), *texts],
            name="policy",
        )
        profile = Verbatim("Profile", yaml_text(report.profile, allow_unicode=True))
        yield Section("The profile", [profile], name="profile")


# --- asking -------------------------------------------------------------------------------------------------


def migrating(source: GivenPolicy, options: MigrateOptions, max_pd_vols: int | None = None) -> Migrating:
    """The migration of *source*, with its releases. Raises :class:`~kubeclassic.exceptions.KubeclassicError`
    for a source that cannot be read, and for options that do not apply."""
    policy, config, written, profile = _read(source)
    release = options.release or DEFAULT_RELEASE
    to = options.to or DEFAULT_FRAMEWORK
    named = framework_release(release)
    if profile is None and options.to is None and named is not None and named.policies is None:
        release, to = DEFAULT_RELEASE, release
    target = target_release(to, options.called("to"))
    if profile is None:
        before = release_with_policies(release)
    else:
        before = release_with_profiles(options.release, profile)
    if options.selector_spread and not before.predicates:
        text = "which is a point of the translation of predicates and priorities; this release runs plugins already"
        raise UnknownNameError(f"selector spread: got it for release {before.version}, {text}")
    if options.selector_spread and target.configuration.lists_points:
        raise UnknownNameError(
            f"selector spread: got it for a profile of {target.version}, whose own translation is taken"
        )
    switches = parse_gates(options.gates) if isinstance(options.gates, str) else dict(options.gates or {})
    return Migrating(
        policy=policy,
        config=attrs.evolve(config, gates={**config.gates, **switches}),
        written=written,
        release=before,
        target=target,
        selector_spread=options.selector_spread,
        max_pd_vols=max_pd_vols,
        profile=profile,
        extenders=options.extenders,
        place=os.fspath(source) if isinstance(source, str | os.PathLike) else "",
    )


@asked_by(MigrateOptions, "policy", "release", opens=migrating, show=None)
def migrate(inputs: Migrating, options: MigrateOptions, observer: Observer) -> MigrateResult:
    """Translate *policy*, as *release* runs it, to a profile of plugins.

    *policy* is a Policy, a ConfigMap that holds one, a KubeSchedulerConfiguration (v1alpha1) that points to
    one, or one with profiles of an older version: a file, or its JSON form.
    """
    check = options.check
    cluster = (
        None
        if check is None
        else check
        if isinstance(check, Scenario)
        else scenario_of(check, scheduler_names=inputs.scheduler_names, server=inputs.server)
    )
    migration = inputs.translated()
    newer = options.newer_labels
    # The extenders of the Policy or the older profile that are not called.
    profile = inputs.profile or {}
    named = profile.get("extenders") or () if inputs.policy is None else inputs.policy.extenders
    left_out = len(named) if cluster is not None and inputs.extenders in (None, "off") else 0
    report = MigrationReport(
        release=inputs.release.version,
        target=inputs.target.version,
        newer_labels=newer,
        policy=without_secrets(inputs.profile or inputs.written),
        profile=without_secrets(migration.document),
        notes=migration.notes,
        source="Policy" if inputs.profile is None else "profile",
        left_out=left_out,
    )
    texts = (*map(str, migration.notes), *notes_on_form(inputs.policy, inputs.release))
    texts += unread_of_first(inputs.config.written, inputs.release)
    if cluster is None:
        return MigrateResult(migration.document, texts, report)
    sides = ComparisonInput.of(cluster, inputs.engines(migration.document), {})
    observer.ready(sides)
    missing = None if newer else zones_warning(sides.scenario)
    if missing is not None:
        observer.doubt(missing)
    comparison = inputs.checked(
        with_newer_labels(sides.scenario) if newer else sides.scenario, sides.engines, observer
    )
    compared = CompareResult.of(comparison, sides.warnings, missing, with_ends=options.makes("data", "page"))
    return MigrateResult(
        migration.document,
        texts,
        report,
        compared,
        agrees(comparison),
        options.show,
        warnings=compared.warnings,
    )


def _read(source: GivenPolicy) -> tuple[Policy | None, AlgorithmConfiguration, Json | None, Json | None]:
    """A Policy, its component configuration, and its JSON form if there is one; or profiles in their
    place."""
    if isinstance(source, Policy):
        return source, AlgorithmConfiguration(), None, None
    if isinstance(source, Mapping):
        if source.get("kind") != KIND:
            return read_policy(source), AlgorithmConfiguration(), source, None
        if has_profiles(source):
            return None, AlgorithmConfiguration(), None, source
        config = read_configuration(source)
        return config.policy(), config, None, None
    if not isinstance(source, str | os.PathLike):
        raise wrong_type("policy", source, declared_of(FIELDS["policy"]).wanted)
    loaded = read_policy_file(Path(source))
    profile = None if loaded.profile is None else loaded.profile.data
    return loaded.policy, loaded.config, None if loaded.document is None else loaded.document.data, profile


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(report: MigrationReport, pair: ConfigurationPair) -> str:
    """Whether the profile decides as the Policy does, and what differs; with what the check left out."""
    agreement = pair.agreement
    lost = pair.lost
    count = report.left_out
    if not agreement.decisions:
        return NOTHING_TRIED
    cycles = f"{agreement.decisions:,}"
    left_out = f", leaving out {count_of(count, 'extender')}" if count else ""
    if not agreement.different and not agreement.gated:
        source = "Policy does" if report.source == "Policy" else "one before does"
        same = (
            f"all {cycles} decisions are the same"
            if agreement.decisions > 1
            else "the only decision is the same"
        )
        if agreement.equally_good:
            same = f"of {cycles} decisions {agreement.same:,} are the same and {agreement.equally_good:,} are equally good"
        return f"The profile decides as the {source} under {report.release}: {same}{in_error(agreement)}{left_out}"
    # For how many of these decisions which rule is the cause.
    counts = Counter[str]()
    for cause in pair.causes:
        if cause.verdict in ("different", "gated"):
            counts[cause.rule or cause.kind] += cause.decisions
    causes = ", ".join(
        f"all by {rule}" if len(counts) == 1 else f"{decisions:,} by {rule}"
        for rule, decisions in counts.items()
    )
    differ = f"{agreement.different + agreement.gated:,} of {cycles} decisions are different with the profile: {causes}"
    if lost.pods:
        loses = count_of(len(lost.pods), "pod loses its place", "pods lose their place")
        differ = f"{differ}; {loses} ({reasons_of(lost)})"
    return f"{differ}{left_out}"


def next_steps(report: MigrationReport, against: ConfigurationPair) -> Iterator[str]:
    """The steps to do next, the most urgent first."""
    option = "policy" if report.source == "Policy" else "profile"
    if against.agreement.different or against.agreement.gated:
        yield "Check whether each decision that differs is acceptable."
        may_spread = bool(ALL_RELEASES[report.release].predicates) and report.target in SPREAD_BY_SELECTOR
        spread = [" or try --selector-spread,"] * may_spread
        pair = (
            f'--a "release={report.release} {option}=FILE" --b "release={report.target} profile=profile.yaml"'
        )
        change = f"Change a weight of the profile by hand,{''.join(spread)} and compare again: "
        yield f"{change}kubeclassic compare CLUSTER {pair}"
        course = f"kubeclassic upgrade CLUSTER --from {report.release} --to {report.target} --{option} FILE"
        yield f"See in which release each of them changes, and why: {course}"
    if any("left out" in note.text for note in report.notes):
        yield "Read the notes on what was left out, and replace what you rely on."
    if not report.newer_labels:
        yield "Check again with --newer-labels if the upgrade adds the newer node labels."
    if report.profile.get("extenders"):
        how = "the check called them, or took their kept answers"
        if report.left_out:
            how = "the check did not call them"
        yield f"Test the extenders: {how}."
    shadow = f"kubeclassic shadow --release {report.target} --profile profile.yaml"
    yield f"Compare it with the running scheduler before you replace that: {shadow}"
    yield "Start kube-scheduler with it: kube-scheduler --config profile.yaml"
