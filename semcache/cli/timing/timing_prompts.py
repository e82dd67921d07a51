"""Prompts that nobody has asked before, each with a rewording of it, drawn from a seed.

Pure. Every prompt has a word that is made up, so that memories of single words show too. Invariant: two draws of one
generator are never equal.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

_FORMS = (
    ("How can I {verb} the {noun} of {name}?", "What is a good way to {verb} the {noun} of {name}?"),
    ("Why does the {noun} of {name} fail after I {verb} it?", "What makes the {noun} of {name} fail once I {verb} it?"),
    ("Which tools {verb} the {noun} of {name} best?", "What are the best tools to {verb} the {noun} of {name}?"),
    ("Explain how to {verb} the {noun} of {name}.", "Describe how one can {verb} the {noun} of {name}."),
)


def _words(text: str) -> list[str]:
    return text.split()


_VERBS = _words(
    "adjust anchor archive assemble balance calibrate clean compare configure convert copy cover decorate design drain"
    " extend fasten filter fold grind harden heat inspect insulate label measure mount organise paint polish repair"
    " replace restore rotate seal sharpen sort store test varnish"
)
_NOUNS = _words(
    "antenna axle barrel battery bearing blade boiler bracket bridge burner cable camera carpet ceiling chain chimney"
    " clutch compass compressor cooler curtain cylinder dashboard drawer engine faucet fence filter frame furnace gear"
    " gutter handle heater hinge keyboard ladder lamp lens lever lock mirror motor nozzle oven panel pedal piston pump"
    " radiator roof rudder saddle sensor shelf shutter spring stairs switch tank thermostat turbine valve wheel window"
)
_SYLLABLES = _words("ba co du fe gi ha jo ku le mi no pu ra se ti vo wa xe yi zo tor lin mar den sol")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question, and the same in other words."""

    text: str
    reworded: str


class Prompts:
    """Prompts without end."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._names = rng, set[str]()

    def draw(self) -> Prompt:
        """Return a prompt that was not drawn before."""
        text, reworded = self._rng.choice(_FORMS)
        words = {"verb": self._rng.choice(_VERBS), "noun": self._rng.choice(_NOUNS), "name": self.name()}
        return Prompt(text.format(**words), reworded.format(**words))

    def name(self) -> str:
        """Return a name that was not drawn before."""
        while True:
            name = "".join(self._rng.choices(_SYLLABLES, k=4)).capitalize()
            if name not in self._names:
                self._names.add(name)
                return name

    def long(self, words: int) -> str:
        """Return a text of about so many words, whose first are a name that was not drawn before."""
        return " ".join([self.name(), *self._rng.choices(_VERBS + _NOUNS, k=words)])
