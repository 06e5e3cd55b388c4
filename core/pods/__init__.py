"""Pods as rules see them: templates, requests and claims."""

from __future__ import annotations

from .requests import *
from .resized import *
from .template import *
