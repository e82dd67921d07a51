"""Where the operators' page is, and the menu of its parts."""

PATH = "/semcache/ui"
