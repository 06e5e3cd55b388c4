"""The command line: ``kubeclassic``, one thin file a subcommand."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import click

from ..exceptions import KubeclassicError
from .bench import bench
from .compare import compare
from .completion import completion
from .conform import conform
from .explain import explain
from .importing import importing
from .output import one_line
from .policy import policy
from .releases import releases
from .replay import replay
from .schema import schema
from .simulate import simulate

BAD_INPUT = 2
INTERRUPTED = 130


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        try:
            click.echo(f"kubeclassic {version('kubeclassic')}")
        except PackageNotFoundError:
            click.echo("kubeclassic (a checkout that is not installed)")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit.")
def cli() -> None:
    """The classic Kubernetes scheduler, releases 1.12 to 1.16, and the framework of 1.27: where pods would go, and why.

    \b
    kubeclassic simulate cluster.yaml              where do the waiting pods go?
    kubeclassic explain cluster.yaml shop/web-0    why does this one go there, or nowhere?
    kubeclassic releases --diff 1.15 1.16          what changed?
    """


for command in (simulate, explain, compare, replay, conform, bench, importing, releases, policy, schema, completion):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process: 0 and 1 are a command's answers, 2 is bad input, told in one line."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; answers the exit status."""
    try:
        return _status(cli.main(arguments, prog_name="kubeclassic", standalone_mode=False))
    except SystemExit as left:
        return _status(left.code)
    except click.UsageError as error:
        return _refuse(f"{error.format_message().rstrip('.')}{_hint(error)}")
    except (KubeclassicError, click.ClickException) as error:
        return _refuse(str(error))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed standard output: nothing more may be written to it, not even when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        return _refuse(str(error))


def _status(code: object) -> int:
    return code if isinstance(code, int) else 0


def _hint(error: click.UsageError) -> str:
    return f" (see {error.ctx.command_path} --help)" if error.ctx else ""


def _refuse(text: str) -> int:
    click.echo(f"kubeclassic: {one_line(text)}", err=True)
    return BAD_INPUT
