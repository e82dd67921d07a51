"""What the strategies decide, on real questions with known answers: `python -m eval.decisions`.

Runs from a checkout, on data that is not part of it. Nothing of what is measured here is a copy: streams go through
`semcache.simulate`, whose decisions are those of the live cache.
"""
