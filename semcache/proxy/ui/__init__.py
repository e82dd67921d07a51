"""The operators' page under /semcache/ui: views of what the administrative API says, made here, and its buttons."""

PATH = "/semcache/ui"
