"""Plan templates on streams of agent tasks: hits, wrong templates, slots, and speed, beside two ways of others."""
