"""Small drawings in SVG, made of attributes alone, which the page's content policy allows where it forbids styles.

Pure; colours come from classes. Invariant: every text in a drawing is escaped, and every drawing says in words what
it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_WIDTH, _ROW, _LABEL = 640, 26, 170


def bar(share: float, kind: str = "accent", label: str = "") -> str:
    """A bar that is filled by a share."""
    filled = 100.0 * min(1.0, max(0.0, share))
    said = escape(label or f"{filled:.0f}%")
    return (
        f'<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{said}">'
        f'<rect class="track" width="100" height="6" rx="1"/>'
        f'<rect class="{escape(kind)}" width="{filled:.2f}" height="6" rx="1"/></svg>'
    )


def wealth_bar(log_wealth: float, log_enough: float, kind: str = "accent", label: str = "") -> str:
    """How near evidence is to being enough, on a logarithmic scale on which 1 is the left end."""
    return bar(log_wealth / log_enough if log_enough > 0 else 0.0, kind, label)


def waterfall(parts: Mapping[str, float]) -> str:
    """Contributions one after the other, from 0 to their sum, in log-odds."""
    total, lowest, highest = 0.0, 0.0, 0.0
    steps: list[tuple[str, float, float]] = []
    for name, value in parts.items():
        steps.append((name, total, value))
        total += value
        lowest, highest = min(lowest, total), max(highest, total)
    reach = (highest - lowest) or 1.0
    space = _WIDTH - _LABEL - 70

    def place(value: float) -> float:
        return _LABEL + 10 + space * (value - lowest) / reach

    rows = [*steps, ("sum", 0.0, total)]
    height = _ROW * len(rows) + 6
    said = escape("; ".join(f"{name} {value:+.2f}" for name, _, value in rows))
    drawn = [
        f'<svg class="waterfall" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="log-odds: {said}">',
        f'<line class="zero" x1="{place(0):.1f}" x2="{place(0):.1f}" y1="0" y2="{height}"/>',
    ]
    for number, (name, start, value) in enumerate(rows):
        y = _ROW * number + 4
        kind = "sum" if name == "sum" else "good" if value >= 0 else "bad"
        left, right = sorted((place(start), place(start + value)))
        drawn.append(
            f'<text class="name" x="{_LABEL}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="{kind}" x="{left:.1f}" y="{y}" width="{max(1.5, right - left):.1f}" height="18" rx="2"/>'
            f'<text class="value" x="{right + 6:.1f}" y="{y + 14}">{value:+.2f}</text>'
        )
    return "".join(drawn) + "</svg>"
