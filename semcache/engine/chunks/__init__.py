"""Reuse beyond the prefix: keys and values of chunks, wherever they stand in a prompt.

Knows which module does what: `blend` computes a prompt with the help of chunks, `chunk` makes them, `store` keeps them,
`craft` says how much to compute anew, `parallel` does without, `align` finds what two prompts have in common, `proof`
refuses models whose chunks cannot be reused. Importing this package imports no torch.
"""
