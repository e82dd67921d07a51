"""Where to send a prompt: the pure part of routing, over several replicas of one model.

Blocks of prompts, what each replica is believed to hold of them, and the choice. Knows no sockets, clocks or bodies of
replies: time is an argument, and so are the secrets that keys are made with.
"""
