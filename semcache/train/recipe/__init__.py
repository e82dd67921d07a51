"""The recipe of the models that ship in the wheel: sources with their licences, vocabulary, steps, model cards.

Reads data from a folder that it is given and holds none. `python -m semcache.train.recipe --help` runs it.
"""
