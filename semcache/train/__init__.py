"""Training and evaluation of the small models that the package ships; needs the `train` extra."""
