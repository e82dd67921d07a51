"""`semcache` with a strategy that a test can foresee, as a real process: `python -m tests.contract.scripted serve`.

From the pack's threshold on it serves, and audits what the pack says; what lies below is doubted and verified.
"""

from __future__ import annotations

from semcache.cli import main
from semcache.matching import strategies
from tests.proxy.strategies import Scripted

strategies.STRATEGIES = dict.fromkeys(strategies.STRATEGIES, Scripted)
if __name__ == "__main__":
    main()
