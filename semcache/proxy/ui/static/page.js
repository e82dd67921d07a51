// What the page does beside links and forms: colours, charts, keys, live events. It works without, but for Live.
(function () {
  "use strict";

  function theme() {
    var set = document.documentElement.dataset.theme;
    if (set) return set;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  // Charts

  var drawn = [];

  function number(value, data) {
    if (value == null) return "–";
    if (data.prefix) return (value < 0 ? "−" : "") + data.prefix + Math.abs(value).toPrecision(3).replace(/\.?0+$/, "").replace(/e.*/, "");
    if (data.unit === "share") return (100 * value).toPrecision(3).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") + "%";
    return Math.round(value).toLocaleString("en");
  }

  function money(value) {
    var size = Math.abs(value), digits = size >= 1 || size === 0 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(size)));
    return (value < 0 ? "−$" : "$") + size.toFixed(Math.max(2, digits));
  }

  function when(seconds, data) {
    var text = new Date(seconds * 1000).toISOString();
    return data.time === "hour" ? text.slice(5, 16).replace("T", " ") : text.slice(0, 10);
  }

  function draw(figure) {
    var data = JSON.parse(figure.dataset.chart), place = figure.querySelector(".plot");
    if (!data.x.length || typeof uPlot === "undefined") {
      if (!data.x.length) place.textContent = "Nothing to draw yet.";
      return;
    }
    place.textContent = "";
    var raw = data.series.map(function (one) { return one.values; }), shown = raw;
    if (data.kind === "stack") {
      var sums = data.x.map(function () { return 0; });
      shown = raw.map(function (values) {
        return values.map(function (value, at) { return (sums[at] += value); });
      });
    }
    // Of a stack the highest is drawn first, so that the lower ones cover it.
    var order = data.series.map(function (_, at) { return at; });
    if (data.kind === "stack") order.reverse();
    var bars = data.kind === "bars" || data.kind === "stack";
    var say = function (value) { return data.prefix === "$" ? (value == null ? "–" : money(value)) : number(value, data); };
    var series = [{ label: data.time ? "Time" : data.xname, value: function (_, x) { return x == null ? "–" : data.time ? when(x, data) : number(x, { unit: "share" }); } }];
    order.forEach(function (at) {
      var one = data.series[at], tone = colour("chart-" + one.tone) || colour("accent");
      series.push({
        label: one.name,
        stroke: tone,
        width: bars ? 0 : 2,
        dash: one.tone === "quiet" || one.tone === "band" ? [5, 4] : undefined,
        fill: bars ? tone : undefined,
        paths: bars ? uPlot.paths.bars({ size: [0.7, 46], radius: 0.08 }) : undefined,
        points: { show: !!one.points, size: 7, fill: tone },
        value: function (_, __, ___, index) { return index == null ? "–" : say(raw[at][index]); },
      });
    });
    var axis = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "12px system-ui, sans-serif" };
    var options = {
      width: Math.max(200, place.clientWidth),
      height: Number(figure.dataset.height),
      series: series,
      scales: {
        x: data.time ? { time: true, range: spaced(data) } : { time: false, distr: data.log ? 3 : 1, range: [data.x[0], data.x[data.x.length - 1]] },
        y: { range: function (_, low, high) { return [Math.min(0, low || 0), high > 0 ? high * 1.08 : 1]; } },
      },
      axes: [
        Object.assign({}, axis, data.time
          ? { values: function (_, ticks) { return ticks.map(function (tick) { var text = new Date(tick * 1000).toISOString(); return data.time === "hour" ? text.slice(11, 16) : text.slice(5, 10); }); }, incrs: data.time === "day" ? [86400, 2 * 86400, 7 * 86400, 14 * 86400] : [3600, 2 * 3600, 6 * 3600, 12 * 3600], space: 56 }
          : { values: function (_, ticks) { return ticks.map(function (tick) { return tick == null ? "" : number(tick, { unit: "share" }); }); }, space: 60 }),
        Object.assign({}, axis, { size: widest, values: function (_, ticks) { return ticks.map(say); } }),
      ],
      tzDate: function (seconds) { return new Date(seconds * 1000 + new Date(seconds * 1000).getTimezoneOffset() * 60000); },
      cursor: { drag: { x: false, y: false }, points: { show: !bars } },
      legend: { live: true },
    };
    var plot = new uPlot(options, [data.x].concat(order.map(function (at) { return shown[at]; })), place);
    // Where nothing is pointed at, the legend tells of the last point.
    function last() { plot.setLegend({ idx: data.x.length - 1 }, false); }
    setTimeout(last, 0);
    plot.over.addEventListener("mouseleave", function () { setTimeout(last, 0); });
    drawn.push({ figure: figure, place: place, plot: plot });
  }

  // Sums of a few cents have long labels.
  function widest(_, labels) {
    return Math.max(66, 24 + 7 * Math.max.apply(null, (labels || [""]).map(function (one) { return String(one).length; })));
  }

  function spaced(data) {
    var step = data.time === "day" ? 86400 : 3600;
    return function () { return [data.x[0] - step * 0.7, data.x[data.x.length - 1] + step * 0.7]; };
  }

  function drawAll(root) {
    root.querySelectorAll("figure[data-chart]").forEach(draw);
  }

  function redraw() {
    drawn = drawn.filter(function (one) { return document.contains(one.figure); });
    drawn.splice(0).forEach(function (one) { one.plot.destroy(); draw(one.figure); });
  }

  var resizing = null;
  addEventListener("resize", function () {
    clearTimeout(resizing);
    resizing = setTimeout(function () {
      drawn.forEach(function (one) { one.plot.setSize({ width: Math.max(200, one.place.clientWidth), height: Number(one.figure.dataset.height) }); });
    }, 120);
  });

  // Colours

  document.querySelectorAll("[data-theme-switch]").forEach(function (button) {
    button.addEventListener("click", function () {
      var next = theme() === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      try { localStorage.setItem("semcache-theme", next); } catch (_) { /* then it lasts for this page */ }
      redraw();
    });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // Keys

  document.addEventListener("keydown", function (event) {
    var typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    var wanted = document.querySelector('[data-key="' + CSS.escape(event.key) + '"]');
    if (!wanted) return;
    event.preventDefault();
    if (wanted.matches("input")) wanted.focus(); else wanted.click();
  });

  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy]");
    if (button) {
      var text = document.querySelector(button.dataset.copy).textContent;
      if (navigator.clipboard) {
        navigator.clipboard.writeText(text).then(function () { button.textContent = "Copied"; }, function () { select(button); });
      } else select(button);
      return;
    }
    var untick = event.target.closest("[data-untick]");
    if (untick) untick.form.querySelectorAll('input[name="ids"]').forEach(function (one) { one.checked = false; });
  });

  function select(button) {
    var range = document.createRange();
    range.selectNodeContents(document.querySelector(button.dataset.copy));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  function ticks() {
    document.querySelectorAll(".needs-ticks").forEach(function (button) {
      button.disabled = !button.form.querySelector('input[name="ids"]:checked');
    });
  }
  document.addEventListener("change", ticks);

  // Live

  var NAMES = { exact: "exact hit", semantic: "hit by meaning", plan: "plan", near: "near hit" };
  var MOST = 200;

  function cell(text, kind) {
    var one = document.createElement("td");
    if (kind) one.className = kind;
    if (text != null) one.textContent = text;
    return one;
  }

  function row(told, requests) {
    var line = document.createElement("tr"), time = cell(new Date(told.at * 1000).toISOString().slice(11, 19));
    // Hits on the very same request, and what is tunnelled, are counted and not recorded.
    if (requests && told.id && told.why !== "exact" && told.why !== "stateful") {
      var link = document.createElement("a");
      link.href = requests + encodeURIComponent(told.id);
      link.textContent = time.textContent;
      time.textContent = "";
      time.append(link);
    }
    var outcome = cell(), badge = document.createElement("span");
    badge.className = "badge " + (/^[a-z]+$/.test(told.outcome) ? told.outcome : "");
    badge.textContent = (NAMES[told.outcome] || told.outcome) + (told.requests > 1 ? " × " + told.requests : "");
    outcome.append(badge);
    var why = cell(told.why, "code small");
    why.title = told.meaning;
    var tenant = cell(), name = document.createElement("span");
    name.className = "name";
    name.textContent = told.tenant;
    tenant.append(name);
    line.append(time, outcome, why, cell(told.category), cell(told.model), tenant,
      cell(told.ms >= 1000 ? (told.ms / 1000).toFixed(2) + " s" : told.ms + " ms", "number"),
      cell(told.p == null ? "–" : (100 * told.p).toFixed(1) + "%", "number"), cell(money(told.saved), "number"));
    return line;
  }

  function live(table) {
    var state = document.getElementById("live-state"), body = table.tBodies[0], paused = false, held = [], late = null;
    function say(text, kind) { state.textContent = text; state.className = "badge " + kind; }
    function show(told) {
      body.prepend(row(told, table.dataset.requests));
      while (body.rows.length > MOST) body.lastElementChild.remove();
    }
    var source = new EventSource(table.dataset.live);
    source.onopen = function () { clearTimeout(late); late = null; if (!paused) say("live", "exact"); };
    source.onmessage = function (event) {
      var told = JSON.parse(event.data);
      if (paused) { held.push(told); held = held.slice(-MOST); say("paused, " + held.length + " waiting", "near"); } else show(told);
    };
    source.onerror = function () {
      if (source.readyState === EventSource.CLOSED) { say("signed out or refused: reload the page", "miss"); return; }
      // The server ends every stream after a while; only a wait that lasts is worth a word.
      if (!late) late = setTimeout(function () { say("reconnecting", "near"); }, 2500);
    };
    var pause = document.getElementById("live-pause");
    pause.addEventListener("click", function () {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? "Go on" : "Pause";
      if (!paused) { held.forEach(show); held = []; }
      say(paused ? "paused" : "live", paused ? "near" : "exact");
    });
  }

  var current = document.querySelector("nav a[aria-current]");
  if (current && current.closest("ul").scrollWidth > current.closest("ul").clientWidth) {
    current.closest("ul").scrollLeft = current.offsetLeft - current.closest("ul").clientWidth / 2 + current.offsetWidth / 2;
  }
  document.querySelectorAll("[data-live]").forEach(live);
  document.addEventListener("htmx:afterSwap", function (event) { drawAll(event.detail.target.parentElement || document); });
  ticks();
  drawAll(document);
})();
