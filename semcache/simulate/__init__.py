"""Simulation of a cache in virtual time, with the decision functions of the live cache, over a trace of known answers.

`Simulator` knows arrivals and their vectors, and no embedder, store, index or clock. It leaves faults, concurrency and
eligibility of the live cache out; all code that decides is the same.
"""

from semcache.simulate.arrivals import Arrival, SimulationStep
from semcache.simulate.simulation_result import SimulationResult
from semcache.simulate.simulator import Experiment, Simulator

__all__ = ["Arrival", "Experiment", "SimulationResult", "SimulationStep", "Simulator"]
