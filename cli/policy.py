"""``kubeclassic policy``: what a Policy means, and how it migrates."""

from __future__ import annotations

from pathlib import Path

import click

from ..choices import DEFAULT_RELEASE
from .declaring.commands import CommandGroup
from .declaring.paramtypes import FILE
from .migrate import migrate_policy


@click.group(cls=CommandGroup, short_help="What a Policy means, and what replaces it.")
def policy() -> None:
    """Work with Policy files: JSON or YAML, by themselves or in a ConfigMap."""


policy.add_command(migrate_policy)


@policy.command("check", short_help="What runs, in which order, with which weights.")
@click.argument("file", type=FILE)
@click.option("--release", metavar="RELEASE", default=DEFAULT_RELEASE, show_default=True, help="The release that is to read it.")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("--rules", multiple=True, metavar="FILE.py:NAME", help="Your own rules: a Python file or module, and the Catalogue in it.")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def check_policy(file: Path, release: str, gates: str | None, rules: tuple[str, ...], form: str) -> None:
    """Show what runs under the Policy in FILE (- is standard input), with warnings of what is accepted but never runs.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that points to a Policy or names a provider.

    Exit status 0: accepted, 1: the release refuses it, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """
    from .running.policies.policy import run_check

    run_check(file, release, gates, rules, form)
