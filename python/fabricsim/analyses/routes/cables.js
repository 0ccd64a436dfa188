/* Paths on every cable, drawn on the fabric. */
import { heat } from "../../report/js/colours.js";
import {
  FULL,
  addPointer,
  busiest,
  cablesOf,
  extentOf,
  fillDot,
  linksOut,
  prepare,
  ramp,
  strokeCable,
  unpack,
} from "../../report/js/drawing.js";
import { chooser, el, onResize, section } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";

const PAD = 30;
/* Cables from which on they are drawn thin, and switches from which on they are small. */
const MANY = 1500;
const MANY_SWITCHES = 400;

/** Return the height of the drawing, the places of the switches on it, and how far neighbours in a row or column are apart. */
export function fabricLayout(routers, width) {
  const [x0, x1, y0, y1] = extentOf(routers);
  const [wide, tall] = [x1 - x0 || 1, y1 - y0 || 1];
  const height = Math.max(280, Math.min(680, width * Math.min(0.95, Math.max(0.5, tall / wide))));
  const [fitX, fitY] = [(width - 2 * PAD) / wide, (height - 2 * PAD) / tall];
  const least = Math.min(fitX, fitY);
  const [sx, sy] = [Math.min(fitX, 3.5 * least), Math.min(fitY, 3.5 * least)];
  const [ox, oy] = [(width - sx * (x1 - x0)) / 2, (height - sy * (y1 - y0)) / 2];
  const at = routers.map((r) => [ox + (r[2] - x0) * sx, oy + (r[3] - y0) * sy]);
  let gap = Infinity;
  for (const of of [0, 1]) {
    const line = [...new Set(at.map((p) => Math.round(p[of])))].sort((a, b) => a - b);
    for (let i = 1; i < line.length; i++) if (line[i] - line[i - 1] > 4) gap = Math.min(gap, line[i] - line[i - 1]);
  }
  return { height, at, gap };
}

function drawFabric(canvas, { routers, ends }, loads) {
  const width = canvas.parentElement.clientWidth;
  const { height, at, gap } = fabricLayout(routers, width);
  const context = prepare(canvas, width, height);
  const found = cablesOf(ends, loads);
  const many = found.length > MANY;
  for (const [low, high, load] of found) {
    const [a, b, share] = [at[low], at[high], load / FULL];
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const flat = Math.abs(a[0] - b[0]) < 1 || Math.abs(a[1] - b[1]) < 1;
    context.strokeStyle = heat(share);
    context.lineWidth = many ? 0.5 + 1.6 * share : 0.8 + 2.6 * share;
    context.globalAlpha = many && share < 0.3 ? 0.35 : 0.9;
    // Cables along a row or column are bent, so that those behind others are seen.
    strokeCable(context, a, b, flat && length > 1.8 * gap ? Math.min(0.12, (0.7 * gap) / length) : 0);
  }
  context.globalAlpha = 1;
  context.fillStyle = getComputedStyle(document.body).color;
  for (const [x, y] of at) fillDot(context, x, y, routers.length > MANY_SWITCHES ? 2 : 4);
  return at.map(([x, y], i) => [x, y, i]);
}

const hottest = (e) => e.summary.hottest.map((h) => [`${h.from} port ${h.port} \u2192 ${h.to} port ${h.peer_port}`, h.paths]);

export function cables({ engines, network }) {
  if (!engines.length) return;
  const canvas = el("canvas", {});
  const [list, controls, most] = [el("ol", { class: "hot" }), el("div", { class: "controls" }), el("span", {})];
  const drawing = network ? el("div", { style: "min-width:0" }, canvas, ramp("no path", most)) : null;
  const named = el("div", { style: "min-width:0" }, el("h3", {}, "busiest channels"), list);
  section(
    "Where the paths are",
    network
      ? "Paths of all pairs of hosts on every cable (the busier direction). Point at a switch to read its cables."
      : "This fabric is too large to be drawn; the busiest channels are named.",
    controls,
    el("div", { class: network ? "wide" : "" }, drawing, named),
  );
  let [current, placed] = [engines[0], []];
  const paint = () => {
    if (!network) return;
    placed = drawFabric(canvas, network, unpack(current.use));
    most.textContent = `${number(current.most)} paths`;
  };
  addPointer(
    canvas,
    () => placed,
    ([, , place]) => {
      const { routers, ends } = network;
      const [, name, , , hosts] = routers[place];
      const count = (load) => number(Math.round((load / FULL) * current.most));
      const out = linksOut(ends, unpack(current.use), place);
      const lines = out.map(([end, load]) => `\u2192 ${routers[end[1]][1]}: ${count(load)} paths`);
      return `${name}, ${number(hosts)} hosts\n` + lines.join("\n");
    },
  );
  const show = (name) => {
    current = engines.find((e) => e.name === name);
    const whole = Math.max(1, current.row.max_paths);
    const entries = hottest(current).map(([cable, count]) => [cable, number(count), count / whole, (100 * count) / whole]);
    list.replaceChildren(...busiest(entries));
    paint();
  };
  const names = engines.map((e) => [e.name, e.name]);
  if (engines.length > 1) controls.append(chooser("tables", names, engines[0].name, show));
  show(engines[0].name);
  onResize(paint);
}
