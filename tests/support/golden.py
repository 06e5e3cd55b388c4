"""Golden files: the output of every question about the examples with ``-o json``, and the events of
``replay``; compressed in ``tests/golden``.

``python -m tests.support.golden`` in the root writes them again. A file holds the exit status in its first
line, then standard output.
"""

import gzip
import shlex

from tests.support.program import ROOT, inside

FOLDER = ROOT / "tests" / "golden"
_POLICY = "examples/policies/kubernetes-classic.json --release 1.16"
_SMALL = "examples/capacity/small-pod.yaml"
_BIG = "examples/capacity/big-node.yaml"
_DRAIN = "drain examples/drain/cluster.yaml --ignore-daemonsets"
COMMANDS = {
    "simulate": "simulate examples/cluster -o json --details",
    "simulate-1.12": "simulate examples/cluster -o json --release 1.12",
    "simulate-1.27": "simulate examples/cluster -o json --release 1.27 --details",
    "simulate-1.36": "simulate examples/cluster -o json --release 1.36",
    "simulate-nodes": "simulate examples/cluster --release 1.16 -o json --nodes --reschedule-evicted --order queue",
    "simulate-policy": f"simulate examples/cluster -o json --policy {_POLICY}",
    "simulate-profile": "simulate examples/cluster -o json --profile examples/profiles/two-profiles.yaml",
    "simulate-seed": "simulate examples/cluster --release 1.16 -o json --order input --tie-break random --seed 7",
    "explain-placed": "explain examples/cluster shop/orders-1 --release 1.16 -o json",
    "explain-unschedulable": "explain examples/cluster analytics/yearly-report --release 1.16 -o json",
    "explain-1.36": "explain examples/cluster analytics/yearly-report -o json --release 1.36",
    "explain-node": "explain examples/cluster deploy/storefront --node gpu-b1 --release 1.16 -o json",
    "what-if": "explain examples/cluster analytics/yearly-report --what-if --order input --release 1.16 -o json",
    "what-if-want": "explain examples/cluster deploy/storefront --want gpu-b1 --release 1.16 -o json",
    "capacity": f"capacity examples/cluster --pod {_SMALL} --pod examples/capacity/web.yaml --ratio 5:1 --release 1.16 -o json",
    "capacity-quota": f"capacity examples/cluster examples/capacity/quota.yaml --pod {_SMALL} --release 1.16 -o json",
    "add-node": f"capacity examples/cluster --pod {_SMALL} --pods 200 --add-node like:general-a1 --release 1.16 -o json",
    "add-node-mix": f"capacity examples/cluster --add-node like:gpu-b1 --add-node {_BIG} --cost gpu-b1=5,big=2 --release 1.16 -o json",
    "drain": f"{_DRAIN} worker-2 worker-3 --release 1.16 -o json",
    "drain-cluster": "drain examples/cluster general-a1 --ignore-daemonsets --delete-emptydir-data --release 1.16 -o json",
    "drain-auto": f"{_DRAIN} --auto --delete-emptydir-data --force --release 1.16 -o json",
    "compare": "compare examples/cluster --a release=1.12 --b release=1.16 -o json",
    "compare-free": 'compare examples/cluster --a release=1.16 --b "release=1.36 percentage=100" --mode free -o json',
    "upgrade": "upgrade examples/cluster --from 1.12 -o json",
    "policy-migrate": f"policy migrate {_POLICY} -o json --check examples/cluster",
    "policy-migrate-1.36": "policy migrate examples/policies/bin-packing.json --to 1.36 -o json",
    "policy-check": f"policy check {_POLICY} -o json",
    "releases": "releases -o json",
    "releases-1.16": "releases 1.16 -o json",
    "releases-1.36": "releases 1.36 -o json",
    "releases-diff": "releases --diff 1.16 1.36 -o json",
    "replay": "replay examples/day.yaml examples/day-failure.jsonl --seed 7 --release 1.16",
    "replay-1.27": "replay examples/day.yaml examples/day-failure.jsonl --seed 7 --release 1.27",
    "sweep": "sweep examples/sweep.yaml --jobs 1 -o json",
    "conform": "conform tests/conformance/1.16/preemption.cases.jsonl.gz -o json",
}
"""File of ``tests/golden`` -> the command, run in the root of the repository."""


def printed(command):
    """The text that the file of *command* must have."""
    done = inside(*shlex.split(command))
    return f"{done.returncode}\n{done.stdout}"


def kept(name):
    """The text of the file *name*."""
    return gzip.decompress(file_of(name).read_bytes()).decode()


def file_of(name):
    """The file of a command."""
    return FOLDER / f"{name}.json.gz"


def main():
    """Write all files; files that already have today's output are not touched."""
    for path in FOLDER.glob("*.json.gz"):
        if path.name.removesuffix(".json.gz") not in COMMANDS:
            path.unlink()
    for name, command in COMMANDS.items():
        text = printed(command)
        if not file_of(name).exists() or kept(name) != text:
            file_of(name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
