"""Speed, as ratios: the product beside a floor and its peers, measured in turns within one run.

`python -m eval.bench --help` says what can be measured. Numbers of different runs are not for comparing; a ratio is,
because both its sides were measured in the same second, again and again.
"""
