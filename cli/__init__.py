"""The command line: ``kubeclassic``. A file a subcommand declares it; what it does is imported when it
runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from .console.output import (
    BAD_INPUT,
    INTERRUPTED,
    StopSignal,
    end_on_interrupt,
    end_streams,
    prepare_streams,
    status_after,
    status_of,
    status_of_exit,
    unwind_on_signals,
    warn_of_rules,
)
from .declaring.commands import DeclaredCommands, LazyGroup, command_places

__all__ = ["BAD_INPUT", "COMMANDS", "INTERRUPTED", "cli", "main", "run"]

COMMANDS = command_places("""
simulate | | Ask | Where do the waiting pods go?
explain | | Ask | Why does a pod go there, or nowhere?
compare | | Ask | What does another configuration change?
upgrade | | Ask | Which upgrade moves which pod, and why?
policy | | Ask | What a Policy means, and what replaces it. \
| Work with Policy files: JSON or YAML, by themselves or in a ConfigMap.
policy check | | Commands | What runs, in which order, with which weights.
policy migrate | migrate | Commands | The Policy as a KubeSchedulerConfiguration.
capacity | | Plan | How many more pods fit, and what stops the next?
drain | | Plan | Which nodes can go, with all their pods elsewhere?
sweep | | Plan | Which configuration is best? Many, in one table.
replay | | Plan | What would have happened over time?
lab | lab | Plan | Try it: move weights and edit the cluster on a page, and see what changes.
snapshot | snapshot | Run | Write a live cluster to a file, for simulate and the others.
shadow | shadow | Run | Where would another scheduler put the pods of a live cluster?
run | run | Run | Schedule the pods of a live cluster.
serve | serve | Run | Be the extender of another scheduler.
conform | | More | Prove it: run cases that the original scheduler answered.
import | importing | More | Turn a published trace into manifests.
examples | examples | More | Write the examples of the documentation to a folder.
releases | releases | More | What the releases are, and how two of them differ.
schema | schema | More | What the JSON of the commands holds.
completion | completion | More | Print the script that completes commands in a shell.
""")
"""The subcommands: where each is declared, nowhere for one that is made of a question, its short help, which
is the command's own (a test holds them equal), and its group."""


def _version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from .. import __version__

        click.echo(f"kubeclassic {__version__}")
        context.exit()


@click.group(
    cls=LazyGroup,
    commands=DeclaredCommands(COMMANDS, __name__),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """The Kubernetes scheduler, every release from 1.12 to 1.36: where pods would go, and why.

    \b
    kubectl get no,po,pv,pvc,sc,svc,rc,rs,sts,deploy,ds,jobs,cj,pdb,pc,limits,quota,ns,runtimeclasses,csinodes,csidrivers,csistoragecapacities -A -o json > cluster.json
    kubeclassic simulate cluster.json                        where do the waiting pods go?
    kubeclassic explain cluster.json shop/web-0              why does this one go there, or nowhere?
    kubeclassic explain cluster.json shop/web-0 --what-if    what would help?
    kubeclassic COMMAND --help                               the usual options; --help-all: all of them

    Exit status: 0 and 1 are answers (see --help); 2: bad input; 3: a bug in kubeclassic; 130: interrupted. On
    a terminal, long work shows its progress; KUBECLASSIC_PROGRESS=0 turns that off.
    """  # noqa: E501


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process: 0 and 1 are a command's answers, 2 is bad input, reported in
    one line."""
    prepare_streams()
    warn_of_rules()
    unwind_on_signals()
    status = run(arguments)
    end_on_interrupt()
    end_streams()
    sys.exit(status)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; answers the exit status."""
    words = sys.argv[1:] if arguments is None else [str(word) for word in arguments]
    try:
        status = status_of_exit(cli.main(words, prog_name="kubeclassic", standalone_mode=False))
    except SystemExit as ended:
        status = status_of_exit(ended.code)
    except (Exception, KeyboardInterrupt, StopSignal) as error:
        status = status_of(error, words)
    return status_after(status)
