"""What can be measured: one module a section, each with `measure(folder, options)`."""
