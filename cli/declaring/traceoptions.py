"""The types of options of ``kubeclassic import``."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import click

from ...api.objects.quantity import Quantity
from ...exceptions import QuantityError
from .paramtypes import DecimalType

_GIB = 1 << 30


class GibPerCpu(DecimalType):
    """Memory as a quantity, as GiB."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """*value* in GiB, more than 0."""
        if isinstance(value, Decimal):
            return value
        try:
            found = Quantity.parse(str(value)).value()
        except QuantityError:
            found = 0
        if found <= 0:
            self.fail(f"got {value!r}, wanted an amount of memory such as 4Gi", param, ctx)
        return Decimal(found) / _GIB


class Days(DecimalType):
    """A number of days, which may have a fraction."""

    name = "days"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """*value* as a number, 0 or more."""
        try:
            found = Decimal(str(value))
        except InvalidOperation:
            found = Decimal(-1)
        if not found.is_finite() or found < 0:
            self.fail(f"got {value!r}, wanted a number of days such as 0.5", param, ctx)
        return found


GIB_PER_CPU, DAYS = GibPerCpu(), Days()
