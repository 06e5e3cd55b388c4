"""From files to objects: documents, fields, and how each kind is read."""

from __future__ import annotations

from .decode import *
from .documents import *
from .notices import *
from .secrets import *
from .typed import *
from .validation import *
