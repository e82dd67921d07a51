"""Reuse for agents: plan templates that are learned from finished runs, matched, filled in and certified like answers.

`slots` reads values, `pattern` tasks, `run` and `capture` finished runs; `template` is what is kept, `adapt` fills it
in, `shelf` finds it, `outcome` says whether it still works, `plans` puts them together.
Invariant: nothing here executes a tool or replays a result; what is served is a plan, which the agent carries out anew.
"""
