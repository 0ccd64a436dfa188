/* What lies over the picture and does not move: jobs on their nodes, dead links, the link that was clicked. */
import { colourOf } from "../../report/js/colours.js";
import { prepare, strokeCable } from "../../report/js/drawing.js";
import { BEND } from "../../report/js/network.js";
import { jobsAt } from "./net.js";

/* Dots from which on jobs are drawn as squares of the largest one. */
const MANY = 2000;

function pie(context, [x, y], radius, shares, ink) {
  const sum = shares.reduce((all, [, nodes]) => all + nodes, 0);
  let angle = -Math.PI / 2;
  for (const [job, nodes] of shares) {
    const end = angle + (2 * Math.PI * nodes) / sum;
    context.fillStyle = colourOf(job);
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, radius, angle, end);
    context.fill();
    angle = end;
  }
  // A rim tells jobs from loads.
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.stroke();
}

function drawJobs(context, net, scene, layout, ink) {
  const found = jobsAt(net, scene);
  const many = found.length > MANY;
  const radius = Math.max(3, Math.min(11, layout.scale * 0.3, 260 / Math.sqrt(scene.dots.x.length)));
  for (const [dot, shares] of found) {
    const place = layout.at.get(dot);
    if (!many) {
      pie(context, place, radius, shares, ink);
      continue;
    }
    const [job] = shares.reduce((a, b) => (b[1] > a[1] ? b : a));
    context.fillStyle = colourOf(job);
    context.fillRect(place[0] - 1, place[1] - 1, 2, 2);
  }
}

function cross(context, [x, y], size) {
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x - size, y + size);
  context.lineTo(x + size, y - size);
  context.stroke();
}

function drawDead(context, { failed }, scene, layout, few, ink) {
  context.strokeStyle = ink;
  context.lineWidth = 1.6;
  const bendOf = (a, b) => (few && layout.isLong(a, b) ? BEND : 0);
  for (const [from, to] of failed.cables) {
    // The same way round as cables that are alive.
    const [low, high] = [scene.dotOf(from), scene.dotOf(to)].sort((p, q) => p - q);
    if (low < 0 || low === high) continue;
    const [a, b] = [layout.at.get(low), layout.at.get(high)];
    const bend = bendOf(a, b);
    context.setLineDash([4, 4]);
    strokeCable(context, a, b, bend);
    context.setLineDash([]);
    const side = bend / 2;
    cross(context, [(a[0] + b[0]) / 2 - side * (b[1] - a[1]), (a[1] + b[1]) / 2 + side * (b[0] - a[0])], 4);
  }
  for (const router of failed.routers) {
    const dot = scene.dotOf(router);
    if (dot >= 0) cross(context, layout.at.get(dot), 6);
  }
}

/** Write the names of groups along the rows and columns of a matrix that has room for them. */
function nameCells(context, { names }, side) {
  const cell = side / names.length;
  if (cell < 22) return;
  context.font = "11px system-ui,sans-serif";
  context.textBaseline = "top";
  // Cells are light and dark: what is written on them has a ground of its own.
  const write = (text, x, y) => {
    context.fillStyle = "rgba(255,255,255,.75)";
    context.fillRect(x, y, context.measureText(text).width + 4, 14);
    context.fillStyle = "#17202e";
    context.fillText(text, x + 2, y + 1);
  };
  names.forEach((name, i) => {
    write(name, 2, (i + 0.5) * cell - 7);
    if (cell >= 40 && i) write(name, (i + 0.5) * cell - 10, 2);
  });
}

/** Draw it all on a canvas of a width. */
export function drawOverlay(canvas, net, scene, { layout, height, few }, { width, jobs, chosen, names }) {
  const context = prepare(canvas, width, height);
  const ink = getComputedStyle(document.body).color;
  if (!layout) {
    nameCells(context, scene, Math.min(width, height));
    return;
  }
  if (jobs) drawJobs(context, net, scene, layout, ink);
  drawDead(context, net, scene, layout, few, ink);
  if (names) {
    context.fillStyle = ink;
    context.font = "11px system-ui,sans-serif";
    context.textAlign = "center";
    scene.dots.x.forEach((_, i) => {
      const [x, y] = layout.at.get(i);
      context.fillText(scene.dots.name(i), Math.max(14, Math.min(width - 14, x)), Math.max(12, y - 13));
    });
  }
  if (chosen >= 0) {
    const [a, b] = [layout.at.get(scene.edges.a[chosen]), layout.at.get(scene.edges.b[chosen])];
    context.strokeStyle = ink;
    context.lineWidth = 2;
    const bend = few && layout.isLong(a, b) ? BEND : 0;
    context.globalAlpha = 0.9;
    context.setLineDash([2, 3]);
    strokeCable(context, a, b, bend);
    context.setLineDash([]);
  }
}
