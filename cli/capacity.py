"""``kubeclassic capacity``: how many more pods fit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..exceptions import ManifestError
from .declaring.commands import CommonOption, command
from .declaring.options import ClusterChoice, input_options, scheduler_options
from .declaring.outputs import OptionsError, Output, check_together, output_options
from .declaring.paramtypes import FILE, Whole, plain_number
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from ..api.load import Loaded
    from .declaring.setup import Setup

FORMS = ("table", "wide", "json", "yaml", "csv", "html")
FLAGS = {
    "templates": "--pod", "ratio": "--ratio", "wanted": "--pods", "max_limit": "--max-limit", "pending_first": "--pending-first",
    "add_node": "--add-node", "exclude": "--exclude-nodes", "gone": "--gone", "cost": "--cost", "most_nodes": "--most-nodes",
}  # fmt: skip
"""Of the options that do not all go together."""
NEW_NODES = ("--cost", "--most-nodes")
_WAITING = "else new nodes are for the pods that wait"
NEEDS = (*((flag, "--add-node") for flag in NEW_NODES), ("--gone", "--add-node"), ("--gone", "--exclude-nodes"))
EXCLUDES = (("--max-limit", "--add-node"), ("--gone", "--pod"))
NEW_NODES_NEED = tuple((flag, "--pod", _WAITING) for flag in ("--pods", "--ratio", "--pending-first"))
"""With --add-node."""


def ratio(text: str) -> tuple[int, ...]:
    """Whole numbers of 1 or more with colons between them, such as ``3:1``."""
    numbers = [number for part in text.split(":") if (number := plain_number(part)) is not None and number > 0]
    if len(numbers) <= text.count(":"):
        raise click.BadParameter(f"got {text!r}, wanted whole numbers of 1 or more with colons between them, such as 3:1")
    return tuple(numbers)


@command(short_help="How many more pods fit, and what stops the next?")
@takes_paths("ResourceQuota", "LimitRange")
@scheduler_options
@input_options
@click.option(
    "--pod", "--podspec", "templates", cls=CommonOption, type=FILE, multiple=True,
    help="A Pod, a PodTemplate or a workload, of which copies are placed. Several take turns.",
)  # fmt: skip
@click.option("--ratio", type=ratio, metavar="N:N...", help="How many copies of each --pod come in turn.  [default: one of each]")
@click.option(
    "--pods", "wanted", cls=CommonOption, type=Whole(1), metavar="N",
    help="Ask whether N copies fit; stop there. Exit status 1 if fewer do.",
)  # fmt: skip
@click.option("--max-limit", type=Whole(0), metavar="N", default=0, help="Stop after N copies.  [default: 0, no limit]")
@click.option(
    "--exclude-nodes", "exclude", multiple=True, metavar="NAMES|SELECTOR",
    help="Leave these nodes out, and the pods on them: a,b or pool=gpu,zone!=z1.",
)  # fmt: skip
@click.option(
    "--gone", is_flag=True,
    help="With --exclude-nodes: not the pods that wait want a node, but those that are made in place of the pods on these nodes.",
)  # fmt: skip
@click.option("--pending-first", is_flag=True, help="Place the pods that wait before all copies. Else they are left out.")
@click.option("--preemption", "preempts", is_flag=True, help="Let copies evict pods of lower priority. Else they take free room only.")
@click.option(
    "--add-node", cls=CommonOption, multiple=True, metavar="FILE|like:NODE",
    help="Say how many new nodes are needed: of the Node in FILE, or copies of a node. Several: a mix of them that costs little.",
)  # fmt: skip
@click.option(
    "--cost", cls=CommonOption, multiple=True, metavar="NAME=NUMBER",
    help="What a new node costs, by the name of its kind.  [default: 1 each]",
)  # fmt: skip
@click.option("--most-nodes", type=Whole(1), metavar="N", help="Add N nodes at most.  [default: as many as there are pods]")
@output_options(
    FORMS, "How to write it; csv: a line a node; html: a page.",
    verbose="As -o wide: what a copy requests, and every node; and what runs, on standard error.",
)  # fmt: skip
def capacity(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, **asked: Any) -> None:
    """Count how many more copies of a pod fit into the cluster in PATHS, and say what stops the next one.

    PATHS are manifests or dumps of a cluster, as for `simulate`. Copies are placed one by one, as kube-scheduler would place them, until
    the next one fits nowhere. Nothing is evicted, unless with --preemption. Pods that wait in the cluster are left out, unless with
    --pending-first. Copies are admitted as the API server would do it: LimitRanges of their namespace give requests and limits, and
    ResourceQuotas stop them (dump them too: add quota,limits to the kinds that `simulate --help` lists). With several --pod the first
    copy that finds no place stops all, so that the ratio holds.

    `room for copies by it alone` is how many copies would fit if no other resource counted, on nodes that take such pods.

    With --add-node it says how many new nodes are needed so that all pods that wait find a node, or with --pod and --pods N copies do, and
    simulates it with one node less. Several kinds: the mix that costs least. Exit status 1: no number of them is enough.

    Exit status 0: some fit, or all that --pods wants; 1: none, or fewer; 2: bad input.

    \b
    kubeclassic capacity cluster.json --pod small-pod.yaml
    kubeclassic capacity cluster/ --pod web.yaml --pod db.yaml --ratio 3:1 -o wide
    kubeclassic capacity cluster/ --pod deployment.yaml --pods 20 --exclude-nodes pool=gpu -o json
    kubeclassic capacity cluster/ --pod web.yaml --report capacity.html
    kubeclassic capacity cluster/ --add-node big.yaml --add-node like:node-7 --cost big=3,node-7=1
    """
    given = {flag: bool(asked[name]) for name, flag in FLAGS.items()}
    adds = any(given[flag] for flag in ("--add-node", *NEW_NODES))
    check_together(given, (*NEEDS, *(NEW_NODES_NEED if adds else ())), EXCLUDES)
    if not adds and not asked["templates"]:
        raise OptionsError("--pod: got none, wanted a file with a Pod, a PodTemplate or a workload")
    if asked["preempts"] and not setup.get("preemption"):
        raise OptionsError("--preemption cannot be combined with --disable-preemption")
    if adds and asked["templates"] and not asked["wanted"]:
        raise OptionsError("--pods: got none, wanted the number of copies that new nodes are for")
    sys.exit(_run(adds, paths, setup.with_(preemption=asked["preempts"]), cluster, output.widened(), asked))


def _run(adds: bool, paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, asked: Mapping[str, Any]) -> int:
    from ..questions import capacity, newnodes
    from ..simulation.newnodes.kinds import LIKE, read_costs
    from .answering import about_input, answer
    from .opening import Console, opened, waiting_left_out

    given = opened(paths, cluster, setup)
    templates = _templates(asked["templates"], cluster, setup)
    options = capacity.CapacityOptions(
        templates=templates, ratio=asked["ratio"], pods=asked["wanted"], max_limit=asked["max_limit"], exclude_nodes=asked["exclude"],
        gone=asked["gone"], pending_first=asked["pending_first"],
    )  # fmt: skip
    leaves_out = bool(options.templates) and not options.pending_first
    console = Console(output.verbose, waiting_left_out) if leaves_out else Console(output.verbose)
    read = [*paths, *asked["templates"]]
    if adds:
        nodes = list(_new_nodes(asked["add_node"], cluster, setup))
        wanted = newnodes.NewNodesOptions(
            nodes=nodes, copies=options, costs=read_costs(asked["cost"]), most_nodes=asked["most_nodes"]
        )
        found = newnodes.ask(given, wanted, console)
        read += [Path(text) for text in asked["add_node"] if not text.startswith(LIKE)]
        return answer(found, output, lambda: about_input(given, read))
    counted = capacity.ask(given, options, console)
    return answer(counted, output, lambda: about_input(given, read))


def _templates(paths: Iterable[Path], cluster: ClusterChoice, setup: Setup) -> list[tuple[str, Loaded]]:
    from ..simulation.capacity.templates import READ_KINDS

    return [(str(path), _loaded(path, cluster, setup, raw_kinds=READ_KINDS)) for path in paths]


def _new_nodes(given: Iterable[str], cluster: ClusterChoice, setup: Setup) -> Iterator[str | tuple[str, Loaded]]:
    from ..simulation.newnodes.kinds import LIKE

    for text in given:
        if text.startswith(LIKE):
            yield text
            continue
        if not text or "\0" in text or not (text == "-" or Path(text).exists()):
            raise ManifestError(f'add-node: got "{text}", which is no file, wanted a file with one Node, or like:NODE')
        yield text, _loaded(text, cluster, setup)


def _loaded(path: str | Path, cluster: ClusterChoice, setup: Setup, **more: Any) -> Loaded:
    from ..api.load import load
    from .notices import tell_notices

    keeps = setup.may_call_extenders
    found = load(path, defaults=not cluster.no_defaults, strict_fields=cluster.strict, keeps_manifests=keeps, **more)
    tell_notices(found.warnings)
    return found
