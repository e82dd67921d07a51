"""The look of the notebooks' figures: one palette that colour-blind readers can tell apart, and matplotlib's settings.

Invariant: figures are small enough for a notebook to stay well below a megabyte.
"""

import matplotlib.pyplot as plt

BLUE, ORANGE, RED, GREEN, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#8A8F98"


def use_style():
    """Set matplotlib up for the figures that follow."""
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 4.0),
            "figure.dpi": 120,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#E8EAED",
            "legend.frameon": False,
        }
    )
