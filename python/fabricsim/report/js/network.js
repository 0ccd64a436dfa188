/* Loads of links, drawn on the network. */
import { live } from "./chart.js";
import { COLOURS, heat } from "./colours.js";
import {
  FULL,
  addPointer,
  busiest,
  cablesOf,
  endsOf,
  extentOf,
  fillDot,
  linksOut,
  prepare,
  ramp,
  strokeCable,
  unpack,
} from "./drawing.js";
import { chooser, el, onResize, section } from "./elements.js";
import { number } from "./numbers.js";

/* Long links are bent by this share of twice their length. */
export const BEND = 0.12;
const PAD = 24;
/* Cables from which on they are drawn thin. */
export const MANY = 3000;

/**
 * Return the height of the drawing, and the places of the routers on it.
 *
 * A flat network may be stretched to fill the space: only its wiring matters, not its proportions. Room is left at the rim
 * for links that are bent.
 */
export function layoutOf(routers, width) {
  const [x0, x1, y0, y1] = extentOf(routers);
  const [wide, tall] = [x1 - x0 || 1, y1 - y0 || 1];
  const aspect = Math.min(1.1, Math.max(0.58, tall / wide));
  const height = Math.max(260, Math.min(680, (width - 2 * PAD) * aspect + 2 * PAD));
  const [padX, padY] = [PAD + 0.04 * height, PAD + 0.05 * width];
  const fitX = (width - 2 * padX) / wide;
  const fitY = Math.max(20, height - 2 * padY) / tall;
  const scale = Math.min(fitX, fitY);
  const [sx, sy] = [Math.min(fitX, 3.5 * scale), Math.min(fitY, 3.5 * scale)];
  const [ox, oy] = [(width - sx * (x1 - x0)) / 2, (height - sy * (y1 - y0)) / 2];
  const at = new Map(routers.map((r) => [r[0], [ox + (r[2] - x0) * sx, oy + (r[3] - y0) * sy]]));
  return { height, at, scale, isLong: (a, b) => Math.hypot(b[0] - a[0], b[1] - a[1]) > Math.max(sx, sy) * 1.5 };
}

/** Draw cables as [from, to, load], in this order, between the places of a layout. */
export function drawCables(context, cables, { at, isLong }) {
  const many = cables.length > MANY;
  for (const [low, high, load] of cables) {
    const [a, b, share] = [at.get(low), at.get(high), load / FULL];
    context.strokeStyle = heat(share);
    context.lineWidth = many ? 0.5 + 1.8 * share : 1 + 3.6 * share;
    context.globalAlpha = many && share < 0.3 ? 0.35 : 1;
    strokeCable(context, a, b, isLong(a, b) ? BEND : 0);
  }
  context.globalAlpha = 1;
}

/** Number the three hottest links where they lie. */
function drawHottest(context, hottest, { at, isLong }) {
  hottest.slice(0, 3).forEach(([, , from, to], i) => {
    const [a, b] = [at.get(from), at.get(to)];
    if (!a || !b) return;
    const side = isLong(a, b) ? (BEND / 2) * (from < to ? 1 : -1) : 0;
    const [x, y] = [(a[0] + b[0]) / 2 - side * (b[1] - a[1]), (a[1] + b[1]) / 2 + side * (b[0] - a[0])];
    context.fillStyle = heat(1);
    fillDot(context, x, y, 9);
    context.fillStyle = "#fff";
    context.font = "bold 11px system-ui,sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(i + 1), x, y + 0.5);
  });
}

/** Draw a network with the loads of a run and return the places of its routers: [x, y, id, name]. */
function drawNetwork(canvas, { routers, ends }, links) {
  const width = canvas.parentElement.clientWidth;
  const layout = layoutOf(routers, width);
  const context = prepare(canvas, width, layout.height);
  drawCables(context, cablesOf(ends, unpack(links.use)), layout);
  context.fillStyle = getComputedStyle(document.body).color;
  const radius = Math.max(1.6, Math.min(6, layout.scale * 0.16));
  const placed = routers.map(([id, name]) => [...layout.at.get(id), id, name]);
  for (const [x, y] of placed) fillDot(context, x, y, radius);
  drawHottest(context, links.hottest, layout);
  return placed;
}

/** Return the run that is shown at first: of those with a drawing the one with the hottest link. */
export const hottestRun = (runs) =>
  runs.reduce((a, b) => {
    const hotter = b.links.hottest[0] && b.links.hottest[0][1] > a.links.hottest[0][1];
    return hotter && b.links.network !== undefined ? b : a;
  });

export function network(data) {
  const known = data.runs.filter((run) => run.links);
  if (!known.length) return;
  const canvas = el("canvas", {});
  const [list, histogram] = [el("ol", { class: "hot" }), el("div", { class: "chart" })];
  const [controls, note] = [el("div", { class: "controls" }), el("p", { class: "soft" })];
  const scale = ramp("idle", "fully used");
  const told = [el("h3", {}, "hottest links"), list, el("h3", { style: "margin-top:18px" }, "links by utilisation"), histogram];
  section(
    "Where the load is",
    "Utilisation of every link (the busier direction), drawn on the network. Point at a router to read its links.",
    controls,
    el(
      "div",
      { class: "wide" },
      el("div", { style: "min-width:0" }, canvas, scale, note),
      el("div", { style: "min-width:0" }, told),
    ),
  );
  const drawHistogram = live(histogram);
  let [links, placed] = [null, []];
  const drawings = data.networks.map((found) => ({ ...found, ends: endsOf(found.ends ?? "") }));
  const drawn = () => (links.network === undefined ? null : drawings[links.network]);
  const paint = () => {
    const found = drawn();
    canvas.hidden = scale.hidden = !found;
    placed = [];
    if (!found) {
      note.textContent = "This network is too large to be drawn here; links.parquet has every link.";
      return;
    }
    const sizes = `${number(found.routers.length)} routers, ${number(found.ends.length)} link directions`;
    note.textContent = `${found.name}: ${sizes}, mean utilisation ${(links.mean * 100).toFixed(1)} %`;
    placed = drawNetwork(canvas, found, links);
  };
  addPointer(
    canvas,
    () => placed,
    ([, , id, name]) => {
      const { routers, ends } = drawn();
      const names = new Map(routers.map((r) => [r[0], r[1]]));
      const out = linksOut(ends, unpack(links.use), id);
      const lines = out.map(([end, load]) => `\u2192 ${names.get(end[1])}: ${((100 * load) / FULL).toFixed(0)} %`);
      return `${name}\n` + lines.join("\n");
    },
  );
  const show = (id) => {
    links = known.find((run) => run.id === id).links;
    const entries = links.hottest.map(([name, use]) => [name, (use * 100).toFixed(1) + " %", use, Math.min(100, use * 100)]);
    list.replaceChildren(...busiest(entries));
    const points = links.histogram.map((count, i) => [i * 5 + 2.5, count]);
    const labels = { xLabel: "utilisation [%]", yLabel: "links" };
    drawHistogram({ series: [{ name: "", colour: COLOURS[0], width: 5, points }], bars: true, ...labels });
    paint();
  };
  const first = hottestRun(known);
  const names = known.map((run) => [run.id, run.label]);
  if (known.length > 1) controls.append(chooser("run", names, first.id, show, { link: "run" }));
  show(first.id);
  onResize(paint);
}
