"""The doctor says what to install before torch brings gigabytes that nobody uses."""

from __future__ import annotations

import pytest

from semcache.cli.doctor_extras import check_extras, finding

_TRAIN = {"sentence-transformers": "5.1", "datasets": "4.0"}


@pytest.mark.parametrize(
    ("installed", "gpu", "state", "says"),
    [
        ({}, False, "ok", "index of CPU builds first"),
        ({}, True, "ok", "neither [train] nor [engine] is installed"),
        ({"torch": "2.7.0+cpu", **_TRAIN}, False, "ok", "[train] can be used"),
        ({"torch": "2.7.0+cpu"}, False, "ok", "neither [train] nor [engine] can be used"),
        ({"torch": "2.7.0", "nvidia-cublas-cu12": "12", **_TRAIN}, False, "warn", "there is no GPU here"),
        ({"torch": "2.7.0+cu126", **_TRAIN}, False, "warn", "pip uninstall torch"),
        ({"torch": "2.7.0+cu126", **_TRAIN}, True, "ok", "torch 2.7.0+cu126"),
        ({"torch": "2.7.0+cpu", **_TRAIN}, True, "warn", "there is a GPU here"),
    ],
)
def test_torch_fits_the_machine(installed: dict[str, str], gpu: bool, state: str, says: str) -> None:
    found = finding(installed, gpu=gpu)
    assert found.state == state
    assert says in f"{found.found} {found.remedy}"
    assert bool(found.remedy) == (state != "ok")


def test_what_is_installed_here_is_read() -> None:
    assert check_extras().check == "extras"
