"""Making and measuring the small models that the package ships; needs the `train` extra."""
