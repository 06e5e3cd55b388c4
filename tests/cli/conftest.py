"""Fixtures for tests of commands: the surroundings of a command line, and manifests in files."""

import pytest
import yaml


@pytest.fixture
def write(tmp_path):
    """Writes manifests to a file; its path."""

    def written(name, *documents):
        (tmp_path / name).write_text(yaml.safe_dump_all(documents))
        return str(tmp_path / name)

    return written
