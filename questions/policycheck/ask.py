"""Policy check: the question, and its view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from ...algorithmprovider.check import PolicyCheck, RunningPredicate
from ...algorithmprovider.config import read_policy_file
from ...algorithmprovider.extenders import ExtenderConfig, in_calling_order
from ...api.view import BulletList, Paragraph, Section, Table, View, columns_of
from ...choices import DEFAULT_RELEASE
from ...exceptions import UnknownNameError
from ...framework.policy import check_file, profile_to_check, release_with_policies
from ...framework.profilecheck import ProfileCheck, check_profile, release_with_profiles
from ...framework.releases import find_any_release
from ...framework.userrules import catalogue_of, plugins_of
from ..asking import Observer, Result
from .options import PolicyCheckOptions

Check: TypeAlias = "PolicyCheck | ProfileCheck"


@attrs.frozen(eq=False, repr=False)
class PolicyCheckResult(Result):
    """The rules that run, or why the release does not start with them."""

    document: Check
    file: str
    """The name of the file, or ``standard input``."""
    extenders: Sequence[ExtenderConfig] = ()
    """The extenders of a Policy, in calling order."""

    @property
    def ok(self) -> bool:
        """Whether the release starts with it."""
        return not self.faults

    @property
    def faults(self) -> list[str]:
        """The faults that the release refuses; a line that begins with blanks belongs to the one before."""
        report = self.document
        if isinstance(report, ProfileCheck):
            lines = []
            for fault in report.faults:
                parts = [fault.what] + [f"expected {fault.wanted}"] * (fault.wanted is not None)
                parts += [f"got {fault.got}"] * (fault.got is not None and fault.got not in fault.what)
                lines.append(f"{fault.where}: {', '.join(parts)}".removeprefix(": "))
            return lines
        if report.refused is None:
            return []
        listed = len(report.faults) > 1 or any(fault.got for fault in report.faults)
        texts = [report.refused]
        for refusal in report.faults if listed else ():
            texts.append(
                f"  {': '.join(filter(None, [refusal.where, refusal.what]))}{f', got {refusal.got}' if refusal.got else ''}"
            )
        return texts

    def origin(self) -> dict[str, Any]:
        return {"releases": [self.document.release], "warnings": self.document.warnings}

    def asides(self, form: str) -> Iterator[str]:
        if form != "table":
            return
        for fault in self.faults:
            yield (
                f"  {fault.strip()}"
                if fault.startswith("  ")
                else f"refused by {self.document.release}: {self.file}: {fault}"
            )
        for warning in self.document.warnings:
            yield f"warning: {warning}"

    def _view(self) -> View:
        report = self.document
        faults = self.faults
        name = self.file
        refused = f"{report.release} refuses {name}: {faults[0]}" if faults else ""
        warned = Section(
            "What to look at", [BulletList(items=list(report.warnings))] if report.warnings else []
        )
        if faults:
            runs = [Section("Why it is refused", [BulletList(items=list(faults))])]
        else:
            shown = [
                Paragraph(part, "text rest", hanging="") if isinstance(part, str) else part
                for part in _parts(report, self.extenders)
            ]
            runs = [Section("" if at else "What runs", [part]) for at, part in enumerate(shown)]
        if isinstance(report, ProfileCheck):
            counts = {"profiles": report.profiles, "extenders": report.extenders, "faults": report.faults}
        else:
            counts = {
                "rules turn nodes down": report.predicates,
                "rules score nodes": report.priorities,
                "are accepted and never run": report.never_run,
                "extenders": report.extenders,
                "faults": report.faults,
            }
        return View(
            verdict=refused or f"{report.release} starts with {name}.",
            sections=[warned, *runs],
            facts={
                "release": report.release,
                **{title: len(values) or None for title, values in counts.items()},
            },
        )


def policy_check(file: Path, options: PolicyCheckOptions, observer: Observer) -> PolicyCheckResult:
    """The rules under the Policy or the configuration in *file*."""
    loaded = read_policy_file(file)
    name = "standard input" if str(file) == "-" else str(file)
    if (profile := profile_to_check(loaded, options.release)) is not None:
        reader = release_with_profiles(options.release, profile.data)
        leaves_out = options.unknown_plugins is not None
        return PolicyCheckResult(
            check_profile(profile, reader, options.gates, plugins_of(options.rules), leaves_out=leaves_out),
            name,
        )
    instead = f", or `kubeclassic policy migrate {file}` for a profile"
    release = release_with_policies(options.release or DEFAULT_RELEASE, instead)
    if options.rules and release.policies is not None:
        raise UnknownNameError(
            f"--rules: got some, but release {release.version} runs plugins, which a Policy cannot name"
        )
    if options.unknown_plugins is not None:
        raise UnknownNameError(f"--plugins: expected a configuration with profiles, got {name} without any")
    report = check_file(loaded, release, options.gates, catalogue_of(options.rules))
    extenders = () if report.refused is not None or loaded.policy is None else loaded.policy.extenders
    return PolicyCheckResult(report, name, in_calling_order(extenders, release))


def _parts(report: Check, extenders: Sequence[ExtenderConfig]) -> Iterator[Table | str]:
    """The rules in tables and sentences."""
    if isinstance(report, ProfileCheck):
        for profile in report.profiles:
            yield f"pods of {profile.scheduler_name}"
            yield _rules_table("Filter plugin", profile.filters) if profile.filters else "no Filter plugins"
            scores = [[plugin.name, plugin.weight] for plugin in profile.scores]
            yield _table("Score plugin; weight", scores) if scores else "no Score plugins"
        yield from (f"extender {url}" for url in report.extenders)
        return
    is_classic = find_any_release(report.release).policies is None
    yield _rules_table("predicate" if is_classic else "Filter plugin", report.predicates, report.never_run)
    priorities = [[priority.name, priority.weight] for priority in report.priorities]
    yield (
        _table(f"{'priority' if is_classic else 'Score plugin'}; weight", priorities)
        if priorities
        else "no priorities"
    )
    if extenders:
        yield _table(
            "extender; may be ignored",
            [[extender.name, "yes" if extender.ignorable else "no"] for extender in extenders],
        )
    everything = "the first predicate that fails ends a node's check"
    if report.check_all:
        everything = "all predicates are checked"
    yield f"{everything}; hardPodAffinitySymmetricWeight {report.hard_pod_affinity_weight}"


def _rules_table(called: str, predicates: Sequence[RunningPredicate], never: Sequence[str] = ()) -> Table:
    rows = [[place, predicate.name, predicate.origin] for place, predicate in enumerate(predicates, 1)]
    return _table(f"order; {called}; from", [*rows, *([None, name, "never runs"] for name in never)])


def _table(titles: str, rows: Sequence[Sequence[object]]) -> Table:
    columns = columns_of(titles)
    return Table(columns[-2].title, columns, rows)
