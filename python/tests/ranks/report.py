"""Report of a rank to its test: one line of JSON on standard output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any


def tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()
