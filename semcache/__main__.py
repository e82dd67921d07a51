"""`python -m semcache`."""

from semcache.cli import main

if __name__ == "__main__":
    main()
