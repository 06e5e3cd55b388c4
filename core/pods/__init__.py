"""Pods as rules see them: templates, requests, claims and affinity terms."""

from __future__ import annotations

from .requests import *
from .resized import *
from .template import *
from .terms import *
