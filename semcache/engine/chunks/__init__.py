"""Reuse beyond the prefix: keys and values of chunks, wherever they stand in a prompt.

`blend` computes a prompt with the help of chunks, `chunk` makes them, `chunk_store` keeps them, `craft` says how much
to compute anew, `alignment` finds the runs that two prompts have in common, `probe` refuses models whose chunks cannot
be reused. Importing this package imports no torch.
"""
