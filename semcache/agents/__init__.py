"""Reuse for agents: plan templates that are learned from finished runs, matched, filled in and certified like answers.

`slots` reads values, `pattern` tasks, `run` and `capture` finished runs; `template` is what is kept, `adapt` fills it
in, `shelf` finds it, `outcome` says whether it still works, `plans` puts them together. `tools` keeps results of calls
that were declared to change nothing, `nearhits` lets a cheap model answer with neighbours as examples, and `multiplex`
chooses among models.
Invariant: nothing here executes a tool; what a plan says to do the agent carries out anew.
"""
