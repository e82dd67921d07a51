"""A cache in virtual time: the very decisions of the live cache, over a trace whose answers are known.

`Simulator` knows arrivals and their vectors, and no embedder, store, index or clock. What it leaves out of the live
cache are faults, concurrency and eligibility; everything that decides is the same code.
"""

from semcache.simulate.arrivals import Arrival, SimulationStep
from semcache.simulate.simulation_result import SimulationResult
from semcache.simulate.simulator import Experiment, Simulator

__all__ = ["Arrival", "Experiment", "SimulationResult", "SimulationStep", "Simulator"]
