// Sets the colours before anything is drawn, as this browser's visitor chose them.
(function () {
  "use strict";
  var chosen = null;
  try { chosen = localStorage.getItem("semcache-theme"); } catch (_) { /* a browser may forbid it */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
