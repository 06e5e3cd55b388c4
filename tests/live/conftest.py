"""Tests that are coroutines."""

import inspect

import pytest

from tests.support.virtualtime import run_virtually


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine on virtual time."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    run_virtually(
        pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    )
    return True
