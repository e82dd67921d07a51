"""For all tests: a busy machine is no defect, so hypothesis measures no time."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
