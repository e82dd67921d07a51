"""Reuse for agents: plan templates that are learned from finished runs, matched, filled in and certified like answers.

`slots` reads values, `pattern` tasks, `run` and `capture` finished runs; `template` is what is stored,
`template_search` finds it, `adapt` fills it in, `outcome` holds its success rate, `plans` is the plan cache made of
these. `tools` keeps results of calls that were declared to change nothing, `nearhits` lets a cheap model answer with
neighbours as examples, and `multiplex` chooses among models.
Invariant: nothing here executes a tool; the agent carries out every call of a plan.
"""
