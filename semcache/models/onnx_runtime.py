"""ONNX Runtime, imported without its telemetry.

Its official builds report the machine and the program to Microsoft from the moment that they are imported, unless
`ORT_DISABLE_TELEMETRY` is set by then. Invariant: the rest of the package imports it here alone; a value that the user
has set is kept.
"""

from __future__ import annotations

import os
from typing import Any

SWITCH = "ORT_DISABLE_TELEMETRY"


def onnx_runtime() -> Any:
    """The module `onnxruntime`."""
    os.environ.setdefault(SWITCH, "1")
    import onnxruntime

    return onnxruntime
