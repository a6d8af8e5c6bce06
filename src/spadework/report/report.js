"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const LEFT = 46, RIGHT = 10, BOTTOM = 28, TOP = 8, NAME = 17;
const colors = {
  table: "var(--table)", "labeled normal": "var(--normal)", "labeled anomaly": "var(--anomaly)",
};

function node(name, attributes, parent, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function hint(target, text) {
  target.addEventListener("pointermove", (event) => {
    tip.textContent = text;
    tip.style.display = "block";
    tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = event.clientY + 14 + "px";
  });
  target.addEventListener("pointerleave", () => { tip.style.display = "none"; });
}

function number(value) {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return String(+value.toPrecision(3));
}

function percent(value) {
  return +(100 * value).toPrecision(3) + "%";
}

// Round values from low to high, about so many.
function ticks(low, high, about) {
  const rough = (high - low) / about, size = 10 ** Math.floor(Math.log10(rough));
  const step = size * [1, 2, 5, 10].find((each) => each * size >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + 1e-6 * step; i++) found.push(i * step);
  return found;
}

// Drawn in pixels of the place it has, so that text keeps its size. What x and y are, if
// named, is written at the end of each axis.
function canvas(id, label, range) {
  const holder = document.getElementById(id);
  const width = Math.min(920, Math.max(240, holder.clientWidth));
  const named = range.names ? NAME : 0;
  const height = Math.round(Math.min(320, Math.max(150, 0.4 * width))) + 2 * named;
  const top = TOP + named, bottom = height - BOTTOM - named;
  const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, holder);
  const x = (v) => LEFT + ((v - range.x[0]) / (range.x[1] - range.x[0])) * (width - LEFT - RIGHT);
  const y = (v) => bottom - ((v - range.y[0]) / (range.y[1] - range.y[0])) * (bottom - top);
  for (const at of ticks(...range.x, width / 120)) {
    node("text", { x: x(at), y: bottom + 18, "text-anchor": "middle" }, svg, (range.showX || number)(at));
  }
  for (const at of ticks(...range.y, height / 80)) {
    node("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y(at), y2: y(at) }, svg);
    node("text", { x: LEFT - 6, y: y(at) + 4, "text-anchor": "end" }, svg, (range.showY || number)(at));
  }
  if (named) {
    node("text", { x: width - RIGHT, y: height - 5, "text-anchor": "end" }, svg, range.names[0]);
    node("text", { x: 0, y: 12 }, svg, range.names[1]);
  }
  return { svg, x, y, top, bottom };
}

function upright(plot, at, attributes) {
  return node("line", { x1: plot.x(at), x2: plot.x(at), y1: plot.top, y2: plot.bottom, ...attributes }, plot.svg);
}

// The outline of bins, left out where they are empty.
function outline(plot, edges, heights, color) {
  let path = "";
  heights.forEach((height, i) => {
    if (!height) return;
    if (!heights[i - 1]) path += `M${plot.x(edges[i])},${plot.y(0)}`;
    path += `L${plot.x(edges[i])},${plot.y(height)}L${plot.x(edges[i + 1])},${plot.y(height)}`;
    if (!heights[i + 1]) path += `L${plot.x(edges[i + 1])},${plot.y(0)}`;
  });
  node("path", { d: path, fill: color, "fill-opacity": 0.22, stroke: color, "stroke-width": 1.5 }, plot.svg);
}

function binHints(plot, edges, words) {
  for (let i = 0; i < edges.length - 1; i++) {
    const area = node("rect", {
      x: plot.x(edges[i]), width: plot.x(edges[i + 1]) - plot.x(edges[i]),
      y: plot.top, height: plot.bottom - plot.top, fill: "transparent",
    }, plot.svg);
    hint(area, `${number(edges[i])} to ${number(edges[i + 1])}: ${words(i)}`);
  }
}

// Each series is drawn as shares of its own rows, so that few labels can be seen.
function histogram(id, label, found) {
  const names = Object.keys(found.counts).filter((name) => found.counts[name].some((count) => count > 0));
  const shares = names.map((n) => {
    const total = found.counts[n].reduce((a, b) => a + b, 0);
    return found.counts[n].map((c) => c / total);
  });
  const edges = found.edges;
  const plot = canvas(id, label, {
    x: [edges[0], edges[edges.length - 1]], y: [0, Math.max(...shares.flat())], showY: percent,
    names: ["score", "share of rows"],
  });
  names.forEach((name, s) => outline(plot, edges, shares[s], colors[name]));
  binHints(plot, edges, (i) =>
    names.map((n) => `${found.counts[n][i].toLocaleString("en")} ${n}`).join(", "));
  const legend = document.createElement("p");
  legend.className = "legend";
  for (const name of names) {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = colors[name];
    item.append(swatch, name);
    legend.append(item);
  }
  document.getElementById(id).append(legend);
  return plot;
}

function curve(id, label, points, options = {}) {
  const plot = canvas(id, label, { x: [0, 1], y: [0, 1], showX: percent, showY: percent, names: options.names });
  if (options.diagonal) {
    node("line", { class: "chance", x1: plot.x(0), y1: plot.y(0), x2: plot.x(1), y2: plot.y(1) }, plot.svg);
  }
  if (options.band) {
    const edge = [...options.band.map(([a, , high]) => [a, high]), ...options.band.map(([a, low]) => [a, low]).reverse()];
    node("path", { class: "band", d: "M" + edge.map(([a, b]) => `${plot.x(a)},${plot.y(b)}`).join("L") + "Z" }, plot.svg);
  }
  node("path", { class: "curve", d: points.map(([a, b], i) => `${i ? "L" : "M"}${plot.x(a)},${plot.y(b)}`).join("") }, plot.svg);
  for (const [a, b, n, low, high] of points) {
    if (n) node("line", { class: "interval", x1: plot.x(a), x2: plot.x(a), y1: plot.y(low), y2: plot.y(high) }, plot.svg);
    const dot = node("circle", {
      cx: plot.x(a), cy: plot.y(b), r: options.dots ? 4 : 7,
      fill: options.dots ? "var(--table)" : "transparent",
    }, plot.svg);
    hint(dot, `${options.names[0]} ${percent(a)}, ${options.names[1]} ${percent(b)}` + (n ? ` (${percent(low)} to ${percent(high)}), ${n.toLocaleString("en")} rows` : ""));
  }
}

function watchThreshold(plot, found) {
  const slider = document.getElementById("threshold");
  const said = document.getElementById("threshold-said");
  const line = upright(plot, found.threshold, { class: "threshold" });
  const total = found.counts.table.reduce((a, b) => a + b, 0);
  const [low, high] = [found.edges[0], found.edges[found.edges.length - 1]];
  slider.min = low; slider.max = high; slider.step = (high - low) / 400;
  slider.value = found.threshold;
  const costs = ["miss-cost", "alarm-cost"].map((id) => document.getElementById(id));

  function above(threshold) {
    let count = 0;
    found.counts.table.forEach((c, i) => {
      const share = (found.edges[i + 1] - threshold) / (found.edges[i + 1] - found.edges[i]);
      count += c * Math.min(1, Math.max(0, share));
    });
    return count;
  }
  function update(own) {
    const at = own ? found.threshold : Number(slider.value);
    line.setAttribute("x1", plot.x(at)); line.setAttribute("x2", plot.x(at));
    const called = own ? found.n_called : Math.round(above(at));
    let text = `threshold ${at.toFixed(3)}${own ? " (chosen by the model)" : ""}: ` +
      `${own ? "" : "about "}${called.toLocaleString("en")} of ${total.toLocaleString("en")} rows called`;
    if (data.performance) {
      const errors = data.performance.errors;
      const [, missed, alarms] = errors.reduce((best, e) => (Math.abs(e[0] - at) < Math.abs(best[0] - at) ? e : best));
      const cost = missed * Number(costs[0].value) + alarms * Number(costs[1].value);
      text += `; held-out rows: ${missed} anomalies missed, ${alarms} false alarms, cost ${number(cost)}`;
    }
    said.textContent = text;
  }
  slider.addEventListener("input", () => update(false));
  for (const each of costs) if (each) each.addEventListener("input", () => update(false));
  update(true);
}

function costCurve(id) {
  const errors = data.performance.errors;
  const inputs = ["miss-cost", "alarm-cost"].map((each) => document.getElementById(each));
  function draw() {
    document.getElementById(id).replaceChildren();
    const cost = errors.map(([at, missed, alarms]) =>
      [at, missed * Number(inputs[0].value) + alarms * Number(inputs[1].value)]);
    const high = Math.max(...cost.map((c) => c[1])) || 1;
    const plot = canvas(id, "Cost by threshold", { x: [errors[0][0], errors[errors.length - 1][0]], y: [0, high], names: ["threshold", "cost"] });
    node("path", { class: "curve", d: cost.map(([a, b], i) => `${i ? "L" : "M"}${plot.x(a)},${plot.y(b)}`).join("") }, plot.svg);
    const best = cost.reduce((a, b) => (b[1] < a[1] ? b : a));
    upright(plot, data.scores.threshold, { class: "threshold" });
    for (const [a, b] of cost) {
      const dot = node("circle", { cx: plot.x(a), cy: plot.y(b), r: 7, fill: "transparent" }, plot.svg);
      hint(dot, `threshold ${a.toFixed(3)}: cost ${number(b)}`);
    }
    document.getElementById("cost-said").textContent = `cheapest on these rows: threshold ${best[0].toFixed(3)}, cost ${number(best[1])}`;
  }
  for (const each of inputs) each.addEventListener("input", draw);
  draw();
}

watchThreshold(histogram("score-histogram", "Scores", data.scores), data.scores);
if (data.performance) {
  const found = data.performance;
  curve("roc", "ROC", found.roc, { diagonal: true, band: found.bands.roc, names: ["false alarms", "found"] });
  curve("precision-recall", "Precision and recall", found.precision_recall, { band: found.bands.precision_recall, names: ["found", "right among called"] });
  curve("lift", "Lift", found.lift, { diagonal: true, band: found.bands.lift, names: ["looked at", "found"] });
  curve("calibration", "Calibration", found.calibration, { diagonal: true, dots: true, names: ["foretold", "came true"] });
  costCurve("cost");
}
