/* Charts of lines or bars, with what is under the pointer and a legend that hides lines. */
import { logTicks, placer, ticks, xAxis, yAxis } from "./axes.js";
import { el, hideTip, onResize, showTip, svg } from "./elements.js";
import { compact, finite, number } from "./numbers.js";
import { dataButtons } from "./saving.js";
import { scaledLabel } from "./units.js";

const MARGIN = { left: 62, right: 14, top: 12, bottom: 44 };

/** Return the size of a chart and where its axes stand, in so many pixels of width. */
function frameOf(wide) {
  const width = Math.max(260, wide || 480);
  const height = Math.min(340, Math.max(230, width * 0.56));
  return { width, height, left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
}

function drawYMarks(root, frame, axis, py) {
  for (const t of axis.log ? logTicks(axis.low, axis.high) : ticks(axis.low, axis.high, 5)) {
    root.append(svg("line", { x1: frame.left, x2: frame.right, y1: py(t), y2: py(t), stroke: "var(--grid)" }));
    root.append(svg("text", { x: frame.left - 8, y: py(t) + 4, "text-anchor": "end" }, compact(t)));
  }
}

function drawXMarks(root, frame, axis, px, { names, bars }) {
  const mark = (at, text) => root.append(svg("text", { x: px(at), y: frame.bottom + 17, "text-anchor": "middle" }, text));
  if (names) {
    const longest = Math.max(...names.map((n) => Math.min(n.length, 18)));
    const every = Math.ceil((names.length * 7 * longest) / (frame.right - frame.left));
    names.forEach((name, i) => {
      if (i % every === 0) mark(i, name.length > 18 ? name.slice(0, 17) + "\u2026" : name);
    });
    return;
  }
  const found = axis.log ? logTicks(axis.low, axis.high) : ticks(axis.low, axis.high, Math.max(3, frame.width / 90));
  for (const t of axis.log ? found : found.filter((v) => !bars || Number.isInteger(v))) mark(t, compact(t));
}

function drawBars(root, frame, axes, { px, py }, series, points) {
  const share = ((frame.right - frame.left) / (axes.x.high - axes.x.low)) * (series.width || 1) * 0.8;
  const w = Math.max(2, Math.min(46, share));
  const ground = py(Math.max(0, axes.y.low));
  for (const [x, y, , , remark] of points) {
    const place = { x: px(x) - w / 2, y: py(y), width: w, height: Math.max(0, ground - py(y)) };
    const face = remark ? { fill: "var(--card)", stroke: series.colour, "stroke-width": 1.4 } : { fill: series.colour };
    root.append(svg("rect", { ...place, rx: 2, ...face }));
  }
}

/** Return a line as a path; with steps it keeps its value up to the next place. */
function pathOf(points, { px, py }, steps) {
  const step = ([x, y], i) => {
    const [left, top] = [px(x).toFixed(1), py(y).toFixed(1)];
    if (i === 0) return `M${left} ${top}`;
    return steps ? `H${left}V${top}` : `L${left} ${top}`;
  };
  return points.map(step).join("");
}

function drawLine(root, axes, { px, py }, series, points, { markers, steps }) {
  const dash = { "stroke-width": 1.9, "stroke-linejoin": "round", "stroke-dasharray": series.dash || "none" };
  root.append(svg("path", { d: pathOf(points, { px, py }, steps), fill: "none", stroke: series.colour, ...dash }));
  const lowest = axes.y.log ? axes.y.low : -Infinity;
  for (const [x, , low, high] of points)
    if (low && high && high > low) {
      const ends = { x1: px(x), x2: px(x), y1: py(Math.max(low, lowest)), y2: py(high) };
      root.append(svg("line", { ...ends, stroke: series.colour, "stroke-width": 1.1, opacity: 0.6 }));
    }
  if (!markers || points.length >= 60) return;
  for (const [x, y, , , remark, bound] of points) {
    const face = remark ? "var(--card)" : series.colour;
    const triangle = `M${px(x).toFixed(1)} ${(py(y) - 5).toFixed(1)}l4.5 8h-9z`;
    root.append(
      bound
        ? svg("path", { d: triangle, fill: "none", stroke: series.colour, "stroke-width": 1.4 })
        : svg("circle", { cx: px(x), cy: py(y), r: 3.3, fill: face, stroke: series.colour, "stroke-width": 1.4 }),
    );
  }
}

/** Draw where y is x, as far as both axes reach. */
function drawDiagonal(root, axes, { px, py }) {
  const [low, high] = [Math.max(axes.x.low, axes.y.low), Math.min(axes.x.high, axes.y.high)];
  if (axes.x.log || axes.y.log || high <= low) return;
  const ends = { x1: px(low), y1: py(low), x2: px(high), y2: py(high), class: "diagonal" };
  root.append(svg("line", { ...ends, stroke: "var(--soft)", "stroke-dasharray": "4 4", "stroke-opacity": 0.8 }));
}

/** Say what is under the pointer, and ring it. */
function addPointer(root, frame, { px, py }, shown, { xLabel, yLabel, names, bars }) {
  const focus = svg("circle", { r: 5.5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.6, visibility: "hidden" });
  root.append(focus);
  const leave = () => {
    focus.setAttribute("visibility", "hidden");
    hideTip();
  };
  root.addEventListener("mousemove", (event) => {
    const box = root.getBoundingClientRect();
    const mx = ((event.clientX - box.left) / box.width) * frame.width;
    const my = ((event.clientY - box.top) / box.height) * frame.height;
    let best = null;
    let distance = 60 * 60;
    for (const series of shown)
      for (const point of series.points) {
        if (!finite(point[0]) || !finite(point[1])) continue;
        const d = (px(point[0]) - mx) ** 2 + (bars ? 0 : (py(point[1]) - my) ** 2);
        if (d < distance) [distance, best] = [d, [series, point]];
      }
    if (!best) {
      leave();
      return;
    }
    const [series, [x, y, , , remark]] = best;
    focus.setAttribute("cx", px(x));
    focus.setAttribute("cy", py(y));
    focus.setAttribute("visibility", "visible");
    const lines = [`${xLabel}: ${names ? names[x] : number(x)}`, `${yLabel}: ${number(y)}`];
    showTip(event, [series.name, ...lines, remark].filter(Boolean).join("\n"));
  });
  root.addEventListener("mouseleave", leave);
}

function drawLabels(root, frame, xLabel, yLabel) {
  const across = frame.left + (frame.right - frame.left) / 2;
  const middle = (frame.bottom + frame.top) / 2;
  root.append(svg("text", { class: "axis", x: across, y: frame.height - 6, "text-anchor": "middle" }, xLabel));
  const turned = { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` };
  root.append(svg("text", { class: "axis", ...turned }, yLabel));
}

function legendOf(series, hidden, draw) {
  const toggle = (name) => {
    if (hidden.has(name)) hidden.delete(name);
    else hidden.add(name);
    draw();
  };
  const button = ({ name, colour }) => {
    const attributes = { type: "button", class: hidden.has(name) ? "off" : "", title: "show or hide" };
    return el("button", { ...attributes, onclick: () => toggle(name) }, el("i", { style: `background:${colour}` }), name);
  };
  return el("div", { class: "legend" }, series.map(button));
}

/**
 * Return a chart's series and labels in the units in which its largest numbers are short; names and bars keep their places.
 */
export function inShortUnits({ series, xLabel, yLabel, yMax = null, names = null, ...rest }) {
  const most = (at) => Math.max(...series.flatMap((s) => s.points.map((p) => p[at])).filter(finite));
  const [fx, x] = names ? [1, xLabel] : scaledLabel(xLabel, most(0));
  const [fy, y] = scaledLabel(yLabel, most(1));
  const by = (value, factor) => (finite(value) ? value * factor : value);
  const scaled = (p) => [by(p[0], fx), by(p[1], fy), by(p[2], fy), by(p[3], fy), ...p.slice(4)];
  const lines = fx === 1 && fy === 1 ? series : series.map((s) => ({ ...s, points: s.points.map(scaled) }));
  return { ...rest, series: lines, xLabel: x, yLabel: y, yMax: finite(yMax) ? yMax * fy : yMax, names };
}

/** Return the drawing of a chart in a frame, with those series that are shown. */
function pictureOf(frame, options, shown) {
  const { xLabel, yLabel, names = null, bars = false, markers = true, steps = false } = options;
  const along = (at) => shown.flatMap((s) => s.points.map((p) => p[at])).filter(finite);
  const [xs, ys] = [along(0), along(1)];
  const viewBox = `0 0 ${frame.width} ${frame.height}`;
  const root = svg("svg", { viewBox, role: "img", "aria-label": `${yLabel} against ${xLabel}` });
  if (xs.length) {
    const axes = { x: xAxis(xs, options), y: yAxis(ys, options) };
    const at = { px: placer(axes.x, frame.left, frame.right), py: placer(axes.y, frame.bottom, frame.top) };
    drawYMarks(root, frame, axes.y, at.py);
    drawXMarks(root, frame, axes.x, at.px, { names, bars });
    const ground = { x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom };
    root.append(svg("line", { ...ground, stroke: "var(--soft)", "stroke-opacity": 0.6 }));
    if (options.diagonal) drawDiagonal(root, axes, at);
    for (const one of shown) {
      const points = one.points.filter((p) => finite(p[0]) && finite(p[1]) && (!axes.y.log || p[1] > 0));
      if (bars) drawBars(root, frame, axes, at, one, points);
      else drawLine(root, axes, at, one, points, { markers, steps });
    }
    addPointer(root, frame, at, shown, { xLabel, yLabel, names, bars });
  } else {
    const middle = { x: frame.width / 2, y: frame.height / 2, "text-anchor": "middle" };
    root.append(svg("text", middle, "nothing to draw"));
  }
  drawLabels(root, frame, xLabel, yLabel);
  return root;
}

/**
 * Draw a chart into an element and return what draws it again.
 *
 * A series has a name, a colour, a dash and points: [x, y, low, high, remark, whether y is only known to be more]. A point with a
 * remark is hollow. With `names` an x is the place of a name; `hidden` holds the names of lines that are not shown; with
 * `diagonal` a dashed line stands where y is x.
 */
function chart(host, given) {
  const options = inShortUnits(given);
  const { series } = options;
  const hidden = options.hidden || new Set();
  const shownOf = () => series.filter((s) => !hidden.has(s.name));
  const draw = () => {
    host.replaceChildren(pictureOf(frameOf(host.clientWidth), options, shownOf()));
    if (series.length > 1) host.append(legendOf(series, hidden, draw));
    host.append(dataButtons(options, shownOf, (width) => pictureOf(frameOf(width), options, shownOf())));
  };
  draw();
  return draw;
}

/** Return what draws a chart into an element, which is drawn again when the width of the page changes. */
export function live(host) {
  let current = null;
  onResize(() => current && current());
  return (options) => {
    current = chart(host, options);
  };
}
