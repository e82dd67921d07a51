"""The strategies on real questions with known answers: `python -m eval.decisions`.

Runs from a checkout, on data that is not part of it. The measured code is the product's own: streams go through
`semcache.simulate`, whose decisions are those of the live cache.
"""
