"""The notebooks of ``examples/``, run. ``python -m tests.support.notebooks`` writes their outputs."""

import os
import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SECONDS = 300
"""The seconds after which a cell has failed."""


def read(path):
    """The notebook at *path*."""
    return nbformat.read(path, as_version=4)


def executed(path):
    """The notebook at *path*, run from its start in the folder where it is; outputs have no times and no
    execution counts."""
    notebook = read(path)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kubeclassic").symlink_to(ROOT)
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONHASHSEED": "0"}
        where = {"metadata": {"path": str(path.parent)}}
        client = NotebookClient(
            notebook, timeout=SECONDS, resources=where, record_timing=False, coalesce_streams=True
        )
        client.execute(env=environment)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return notebook


def texts(notebook):
    """The outputs of each code cell, as plain text."""
    return [[_text(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def words(notebook):
    """The readable text of each code cell's HTML outputs, without tags and styles."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    pages = [[output.get("data", {}).get("text/html", "") for output in cell.outputs] for cell in code]
    return [
        [re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL) for page in found]
        for found in pages
    ]


def _text(output):
    if output.output_type == "stream":
        return str(output.text)
    return str(output.data.get("text/plain", ""))


def main():
    """Run all notebooks and write them with their outputs."""
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
