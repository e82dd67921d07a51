"""The doctor's check of the extras `[train]` and `[engine]`: a torch that fits this machine.

Reads what is installed and imports none of it. Invariant: a build for GPUs on a machine without one is a warning with
what to install instead.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path

from semcache.cli.doctor_finding import Finding

_NEEDS = {"train": ("torch", "sentence-transformers", "datasets"), "engine": ("torch", "transformers", "llguidance")}
_FIRST = (
    "install torch from PyTorch's index of CPU builds first (its installation page has the command: Compute Platform "
    "CPU), or pip fetches some gigabytes of CUDA libraries"
)


def check_extras() -> Finding:
    """Return what of `[train]` and `[engine]` is installed, and with which torch."""
    installed = {}
    for one in distributions():
        name = one.metadata["Name"]
        if name:
            installed[name.lower().replace("_", "-")] = one.version
    gpu = shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia").exists()
    return finding(installed, gpu=gpu)


def finding(installed: Mapping[str, str], *, gpu: bool) -> Finding:
    """Return the finding about installed distributions (names in lower case), on a machine with a GPU or without."""
    torch = installed.get("torch")
    if torch is None:
        remark = "" if gpu else f"; before `pip install 'semcache-llm[train]'` or `[engine]`, {_FIRST}"
        return Finding("extras", "ok", f"neither [train] nor [engine] is installed{remark}")
    whole = [f"[{name}]" for name, needs in _NEEDS.items() if all(one in installed for one in needs)]
    said = f"torch {torch}; {' and '.join(whole) or 'neither [train] nor [engine]'} can be used"
    cuda = "+cu" in torch or any(name.startswith("nvidia-c") for name in installed)
    if cuda and not gpu:
        remedy = f"it works, and takes gigabytes for nothing: pip uninstall torch, then {_FIRST}"
        return Finding("extras", "warn", f"{said}: a build for CUDA, and there is no GPU here", remedy)
    if gpu and not cuda:
        remedy = "install torch from PyTorch's index of CUDA builds, if training or the engine are to use the GPU"
        return Finding("extras", "warn", f"{said}: a build for the CPU, and there is a GPU here", remedy)
    return Finding("extras", "ok", said)
