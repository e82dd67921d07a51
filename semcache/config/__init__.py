"""Configuration: settings and their sections, policy packs, plug-ins, and mistakes in YAML."""
