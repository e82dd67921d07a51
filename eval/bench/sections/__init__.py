"""The sections of the benchmark: one module a section, each with `measure(folder, options)`."""
