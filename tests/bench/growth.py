"""The growth of cost with nodes, bound pods, distinct templates, and preemption; see README.md beside this
file."""

import argparse
import sys
import textwrap
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kubeclassic.framework.releases import ALL_RELEASES
from tests.bench.cases import CaseSize
from tests.bench.loop import timed

RELEASE = "1.16"
TEXT = """# How cost grows

The cost of one more pod, by cluster size, bound pods and distinct templates: pods per second of processor time of one core, and the
ratio to the smallest size. Release 1.16, default provider, all nodes scored, loop alone. Made by `tests/bench/growth.py`.
"""

SERIES = {
    "nodes": (
        "nodes (1,000 bound pods, 1,000 pending)",
        [(n, CaseSize(nodes=n)) for n in (100, 300, 1000, 3000, 5000, 10_000, 20_000, 50_000)],
    ),
    "nodes-mixed": (
        "nodes (1,000 bound pods, 1,000 pending of eight kinds)",
        [(n, CaseSize(kind="mixed", nodes=n)) for n in (100, 300, 1000, 3000, 5000, 10_000, 20_000, 50_000)],
    ),
    "bound": (
        "bound pods (50,000 nodes, 1,000 pending)",
        [(n, CaseSize(nodes=50_000, existing=n)) for n in (0, 10_000, 100_000, 300_000, 1_000_000)],
    ),
    "bound-mixed": (
        "bound pods (10,000 nodes, 1,000 pending of eight kinds)",
        [
            (n, CaseSize(kind="mixed", nodes=10_000, existing=n))
            for n in (0, 1000, 10_000, 30_000, 100_000, 300_000)
        ],
    ),
    "templates": (
        "distinct templates (5,000 nodes, 1,000 bound pods, 5,000 pending)",
        [(n, CaseSize(nodes=5000, pods=5000, templates=n)) for n in (1, 10, 100, 1000, 5000)],
    ),
    "preemption": (
        "nodes (30 bound pods of lower priority each, 200 pending that preempt)",
        [(n, CaseSize(kind="preemption", nodes=n, pods=200)) for n in (100, 300, 1000, 2500, 5000)],
    ),
}
"""Series -> the quantity that grows, and the cases by its size."""
BY_RELEASE = "releases"
KINDS = ("basic", "affinity", "spread", "mixed")
"""The kinds of pods with which all releases are measured."""


def measured(series, repeat, most):
    """One row for each case, up to the size *most*."""
    for size, shape in SERIES[series][1]:
        if size <= most:
            runs = [timed(shape.case(RELEASE)) for _ in range(repeat)]
            rate = max(run.rate for run in runs)
            load = min(run.load_seconds for run in runs)
            yield {"size": size, "pods_per_s": round(rate, 1), "load_seconds": round(load, 3)}


def by_release(repeat):
    """Pods per second of each release, by the kind of the pending pods."""
    rows = []
    for release in ALL_RELEASES:
        cases = {kind: CaseSize(kind=kind, nodes=5000).case(release) for kind in KINDS}
        rows.append(
            {
                "release": release,
                **{kind: max(timed(case).rate for _ in range(repeat)) for kind, case in cases.items()},
            }
        )
    return rows


def as_markdown(results, releases, picture):
    """The tables of *results* and *releases* as a document, below the *picture*."""
    lines = [TEXT] + ([f"\n![pods a second by size]({picture})\n"] if picture else [])
    for series, rows in results.items():
        grows, _, given = SERIES[series][0].partition(" (")
        lines.append(
            f"\n## {grows.capitalize()}: {given.rstrip(')')}\n\n| {grows} | pods/s | µs/pod | ratio | load s |"
        )
        lines.append("|---:|---:|---:|---:|---:|")
        for row in rows:
            rate = row["pods_per_s"]
            ratio = rows[0]["pods_per_s"] / row["pods_per_s"]
            lines.append(
                f"| {row['size']:,} | {rate:,.0f} | {1e6 / rate:,.0f} | {ratio:.2f} | {row['load_seconds']:.1f} |"
            )
    if releases:
        lines += [
            "\n## Releases: 5,000 nodes, 1,000 bound pods, 1,000 pending; pods/s\n",
            f"| release | {' | '.join(KINDS)} |",
        ]
        lines += ["|---" + "|---:" * len(KINDS) + "|"]
        lines += [
            f"| {row['release']} | {' | '.join(f'{row[kind]:,.0f}' for kind in KINDS)} |" for row in releases
        ]
    return "\n".join(lines) + "\n"


def draw(results, path):
    """Draw pods/s by size, in one picture for each quantity that grows."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "kubeclassic"
    from matplotlib import pyplot as plt

    pictures = sorted({series.partition("-")[0] for series in results}, key=list(SERIES).index)
    figure, panes = plt.subplots(1, len(pictures), figsize=(4.2 * len(pictures), 3.6), squeeze=False)
    for pane, picture in zip(panes[0], pictures, strict=True):
        for series in (name for name in results if name.partition("-")[0] == picture):
            sizes = [max(row["size"], 1) for row in results[series]]
            kind = series.partition("-")[2] or "basic" if picture != "preemption" else "preempting"
            label = kind if given(series) == given(picture) else f"{kind}, {given(series)}"
            pane.plot(sizes, [row["pods_per_s"] for row in results[series]], marker="o", label=label)
        pane.set(
            xscale="log",
            yscale="log",
            xlabel=SERIES[picture][0].partition(" (")[0],
            ylabel="pods/s of processor time",
        )
        pane.set_title(textwrap.fill(SERIES[picture][0].partition("(")[2].rstrip(")"), 44), fontsize=8)
        pane.grid(visible=True, which="both", alpha=0.3)
        pane.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def given(series):
    """The first property that all cases of a series share: ``10,000 nodes``."""
    return SERIES[series][0].partition("(")[2].split(", ")[0]


def main():
    """Measure, print tables, and draw where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "series", nargs="*", metavar="SERIES", help=f"any of {', '.join([*SERIES, BY_RELEASE])}; default: all"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each case, of which the best counts")
    parser.add_argument("--most", type=int, default=1_000_000, help="leave out the cases larger than this")
    parser.add_argument("--plot", type=Path, help="draw into this file, .svg or .png; needs matplotlib")
    parser.add_argument("--table", type=Path, help="write the tables into this Markdown file")
    arguments = parser.parse_args()
    asked = arguments.series or [*SERIES, BY_RELEASE]
    results = {
        series: list(measured(series, arguments.repeat, arguments.most))
        for series in SERIES
        if series in asked
    }
    if arguments.plot is not None:
        draw(results, arguments.plot)
    releases = by_release(arguments.repeat) if BY_RELEASE in asked else []
    text = as_markdown(results, releases, arguments.plot and arguments.plot.name)
    click.echo(text)
    if arguments.table is not None:
        arguments.table.write_text(text)


if __name__ == "__main__":
    main()
