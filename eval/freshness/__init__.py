"""How well volatile prompts are recognised, and what learned lives are worth: `python -m eval.freshness`."""
