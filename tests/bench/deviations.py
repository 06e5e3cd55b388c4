"""Where ``policy migrate`` is not as upstream's translation was: how many decisions differ from the old release's with either.

Each line is a Policy on clusters, locked: both sides decide on the same state, which follows the old release.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import click  # noqa: E402

from kubeclassic.cli.report.tables import TextTable  # noqa: E402
from kubeclassic.exceptions import PolicyError  # noqa: E402
from kubeclassic.simulation.scenario import read_scenario  # noqa: E402
from tests.support.deviationtrials import CASES, PACKING, Trial, refused, trials  # noqa: E402

COLUMNS = ("deviation", "clusters: Policy", "decisions", "differ with it", "differ without it")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=Path, default=CASES, help="conformance cases, by release")
    parser.add_argument("--seeds", type=int, default=40, help="drawn clusters a line")
    parser.add_argument("--cluster", type=Path, action="append", default=[], help="manifests to try the weight of balance on as well")
    options = parser.parse_args()
    wanted = [*trials(options.cases, options.seeds), refused(options.cases)]
    for path in options.cluster:
        scenario = read_scenario(path)
        for name, config in (("default provider", None), ("ClusterAutoscalerProvider", PACKING)):
            more = {} if config is None else {"config": config}
            wanted.append(Trial("double-balance", f"{path.name}: {name}", None, lambda found=scenario: iter([found]), **more))
    rows = [row(trial) for trial in sorted(wanted, key=lambda trial: trial.deviation)]
    click.echo(TextTable(COLUMNS, rows).text())


def row(trial: Trial) -> list[object]:
    """One line of the table."""
    with_it = trial.counts()
    try:
        without_it: object = trial.counts((trial.deviation,))["different"]
    except PolicyError as refusal:
        without_it = f"refused: {refusal}"
    return [trial.deviation, trial.what, with_it["decisions"], with_it["different"], without_it]


if __name__ == "__main__":
    main()
