"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import attrs
import click

from ..questions.migrate.options import MigrateOptions
from ..questions.options import OptionsError
from .declaring.commands import command
from .declaring.flags import (
    FILE,
    ClusterChoice,
    Output,
    click_option,
    environments_max_pd_vols,
    options_of,
    output_options,
    takes_cluster,
    with_options,
)

OPTIONS = [click_option(field) for name, field in MigrateOptions.declared().items() if name != "check"]
WARNINGS = "List every warning about the cluster of --check."
CHECK = "Compare both on this cluster; more paths may follow."


@command("migrate", short_help="The Policy as a KubeSchedulerConfiguration.", help=MigrateOptions.__doc__)
@click.argument("file", type=FILE)
@click.option("--check", "paths", type=FILE, multiple=True, metavar="PATH", help=CHECK)
@takes_cluster()
@with_options(OPTIONS)
@output_options("yaml,json", "The format.", default="yaml", what="the profile", verbose=WARNINGS)
@options_of("--report | FILE | | Write the whole comparison to this file, as an HTML page.")
@click.argument("more", type=FILE, nargs=-1)
def migrate(
    file: Path,
    paths: tuple[Path, ...],
    output: Output,
    report: str | None,
    more: tuple[Path, ...],
    **values: Any,
) -> None:
    from ..api.view import CodeText, Words
    from ..questions.migrate import ask
    from .answering import Console, about, answer, files_of, page_of, tell_line, tell_unread, write_report
    from .console.output import note
    from .report.tables import write_view

    if more and not paths:
        raise click.UsageError(f"expected --check before {more[0]}")
    for flag, is_given in (("--report", report is not None), ("--verbose", output.verbose)):
        if is_given and not paths:
            raise OptionsError(f"{flag} needs --check")
    chosen = {name.removeprefix("own_"): value for name, value in values.items() if value is not None}
    paths += more
    forms = [] if report is None else ["page"]
    options = MigrateOptions(**chosen, check=paths or None, forms=forms, called=MigrateOptions.flag_of)
    migrating = ask.migrating(file, options, environments_max_pd_vols())
    cluster = None
    if paths:
        files = files_of(paths, ClusterChoice(), keeps_manifests=options.extenders is not None)
        cluster = files.scenario(migrating.scheduler_names, server=migrating.server)
    checked = attrs.evolve(options, check=cast(Any, cluster))
    result = ask.migrate.ask(migrating, checked, Console(output.verbose))
    if report is not None and cluster is not None:
        # The comparison is the larger one: where it cannot be written, nothing is.
        notices = tuple(notice for group in result.warnings for notice in group.notices)
        rules = [Words(f"{result.report.source}: ", CodeText(str(file)))]
        releases = [result.report.release, result.report.target]
        noted = attrs.evolve(cluster, warnings=notices)
        origin = about(noted, (file, *paths), releases=releases, rules=rules)
        write_report(report, lambda: page_of(result.view(), origin))
    status = answer(result, output)
    if cluster is None:
        for text in result.notes:
            tell_line(text)
    else:
        note("")
        with suppress(OSError):
            write_view(result.view(), sys.stderr)
        tell_unread(notice for group in result.warnings for notice in group.notices)
    sys.exit(status)
