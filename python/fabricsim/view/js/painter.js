/*
 * Draws a scene with the loads of a window: few cables as strokes, very many as pixels, groups by groups as cells; and finds
 * what is under a place.
 */
import { heat } from "../../report/js/colours.js";
import { FULL, fillDot, prepare } from "../../report/js/drawing.js";
import { BEND, MANY, drawCables, layoutOf } from "../../report/js/network.js";
import { loadsOf } from "./net.js";
import { addLoads, colour, idleOf, pixelsOf, squaresOf } from "./raster.js";

/* So far away (pixels) something is still meant. */
const NEAR = 12;
const MOST_RATIO = 2;

const ratioOf = () => Math.min(MOST_RATIO, devicePixelRatio || 1);

/** Return the square of how far a place is from a line. */
export function distanceToLine(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return (ax + along * dx - x) ** 2 + (ay + along * dy - y) ** 2;
}

/** Return the square of how far a place is from a cable, which is bent as it is drawn. */
export function distanceToCable(x, y, a, b, bend) {
  if (!bend) return distanceToLine(x, y, a, b);
  const control = [(a[0] + b[0]) / 2 - bend * (b[1] - a[1]), (a[1] + b[1]) / 2 + bend * (b[0] - a[0])];
  const at = (t) => [0, 1].map((i) => (1 - t) ** 2 * a[i] + 2 * t * (1 - t) * control[i] + t ** 2 * b[i]);
  let least = Infinity;
  for (let k = 0; k < 8; k++) least = Math.min(least, distanceToLine(x, y, at(k / 8), at((k + 1) / 8)));
  return least;
}

/** Draws strokes and dots. */
function strokes(canvas, scene, layout, width) {
  const { dots, edges } = scene;
  const [loads, own] = [new Uint8Array(edges.a.length), new Uint8Array(dots.x.length)];
  const places = dots.x.map((_, i) => layout.at.get(i));
  const radius = Math.max(1.6, Math.min(6, layout.scale * 0.16, 120 / Math.sqrt(dots.x.length)));
  const cables = edges.a.map((a, i) => [a, edges.b[i], 0, i]);
  return (bytes, mean) => {
    const context = prepare(canvas, width, layout.height);
    loadsOf(edges, bytes, loads, mean);
    loadsOf(dots.own, bytes, own, mean);
    for (const cable of cables) cable[2] = loads[cable[3]];
    cables.sort((p, q) => p[2] - q[2] || p[3] - q[3]);
    drawCables(context, cables, layout);
    const idle = getComputedStyle(document.body).color;
    places.forEach(([x, y], i) => {
      context.fillStyle = own[i] ? heat(own[i] / FULL) : idle;
      fillDot(context, x, y, radius);
    });
  };
}

/** Draws pixels. */
function pixels(canvas, scene, layout, width) {
  const ratio = ratioOf();
  const [w, h] = [Math.round(width * ratio), Math.round(layout.height * ratio)];
  const { dots, edges } = scene;
  const places = dots.x.map((_, i) => {
    const [x, y] = layout.at.get(i);
    return [Math.max(0, Math.min(w - 1, Math.round(x * ratio))), Math.max(0, Math.min(h - 1, Math.round(y * ratio)))];
  });
  const lines = pixelsOf(edges.a.length, (i) => [...places[edges.a[i]], ...places[edges.b[i]]], w);
  const squares = squaresOf(places, places.length > 8000 ? 1 : 3, w, h);
  const idle = idleOf(w * h, lines, squares);
  const [loads, own, frame] = [new Uint8Array(edges.a.length), new Uint8Array(places.length), new Uint8Array(w * h)];
  canvas.style.height = `${layout.height}px`;
  [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  const image = context.createImageData(w, h);
  const target = new Uint32Array(image.data.buffer);
  return (bytes, mean) => {
    frame.set(idle);
    addLoads(frame, lines, loadsOf(edges, bytes, loads, mean));
    addLoads(frame, squares, loadsOf(dots.own, bytes, own, mean));
    colour(frame, target);
    context.putImageData(image, 0, 0);
  };
}

/** Draws cells. */
function cells(canvas, { n, cells: found }, width) {
  const side = Math.min(width, 680);
  canvas.style.height = `${side}px`;
  canvas.style.width = `${side}px`;
  [canvas.width, canvas.height] = [n, n];
  const context = canvas.getContext("2d");
  const image = context.createImageData(n, n);
  const target = new Uint32Array(image.data.buffer);
  const [frame, loads] = [new Uint8Array(n * n), new Uint8Array(found.keys.length)];
  return (bytes, mean) => {
    loadsOf(found, bytes, loads, mean);
    found.keys.forEach((key, i) => (frame[key] = loads[i] + 1));
    colour(frame, target);
    context.putImageData(image, 0, 0);
  };
}

/** Return the cable nearest to a place, -1 if none is near. */
function cableAt({ edges }, layout, bent, x, y) {
  let [best, least] = [-1, NEAR * NEAR];
  for (let i = 0; i < edges.a.length; i++) {
    const [a, b] = [layout.at.get(edges.a[i]), layout.at.get(edges.b[i])];
    const distance = distanceToCable(x, y, a, b, bent && layout.isLong(a, b) ? BEND : 0);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

/** Return the dot nearest to a place, -1 if none is near. */
function dotAt(layout, count, x, y, near) {
  let [best, least] = [-1, near * near];
  for (let i = 0; i < count; i++) {
    const [dx, dy] = layout.at.get(i);
    const distance = (dx - x) ** 2 + (dy - y) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

/** Prepare a scene on a canvas of a width: what it returns paints a window, and tells what is at a place. */
export function painter(canvas, scene, width) {
  canvas.style.width = "";
  canvas.style.imageRendering = scene.kind === "matrix" ? "pixelated" : "";
  if (scene.kind === "matrix") {
    const side = Math.min(width, 680);
    const at = (x, y) => {
      const [column, row] = [x, y].map((value) => Math.floor((value / side) * scene.n));
      const inside = row >= 0 && column >= 0 && row < scene.n && column < scene.n;
      const cell = inside ? scene.cells.keys.indexOf(row * scene.n + column) : -1;
      return { cell, row, column };
    };
    return { paint: cells(canvas, scene, width), at, layout: null, height: side };
  }
  const { dots, edges } = scene;
  const layout = layoutOf(
    dots.x.map((x, i) => [i, "", x, dots.y[i]]),
    width,
  );
  const few = edges.a.length <= MANY;
  const paint = (few ? strokes : pixels)(canvas, scene, layout, width);
  const at = (x, y) => {
    const dot = dotAt(layout, dots.x.length, x, y, few ? 7 : 2);
    return dot >= 0 ? { dot } : { edge: cableAt(scene, layout, few, x, y) };
  };
  return { paint, at, layout, height: layout.height, few };
}
