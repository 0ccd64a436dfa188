/*
 * Pictures of very many cables: which pixels each covers is worked out once, a frame is their loads. A pixel has the busiest
 * of its cables.
 */
import { heat } from "../../report/js/colours.js";
import { FULL } from "../../report/js/drawing.js";

/* Bytes of a pixel: nothing is there; above it the load plus one. */
const NOTHING = 0;

const steps = (ax, ay, bx, by) => Math.max(Math.abs(bx - ax), Math.abs(by - ay));

/** Return the pixels of straight lines between [x, y] and [x, y] of whole numbers: where each starts, and all of them. */
export function pixelsOf(count, endsOf, width) {
  const start = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) start[i + 1] = start[i] + steps(...endsOf(i)) + 1;
  const pixels = new Uint32Array(start[count]);
  for (let i = 0; i < count; i++) {
    const [ax, ay, bx, by] = endsOf(i);
    const n = steps(ax, ay, bx, by);
    const [dx, dy] = n ? [(bx - ax) / n, (by - ay) / n] : [0, 0];
    for (let k = 0; k <= n; k++) pixels[start[i] + k] = Math.round(ay + k * dy) * width + Math.round(ax + k * dx);
  }
  return { start, pixels };
}

/** Return the pixels of squares around [x, y], within the picture. */
export function squaresOf(places, size, width, height) {
  const [start, pixels] = [new Uint32Array(places.length + 1), []];
  const half = Math.floor(size / 2);
  places.forEach(([x, y], i) => {
    for (let v = Math.max(0, y - half); v < Math.min(height, y - half + size); v++)
      for (let u = Math.max(0, x - half); u < Math.min(width, x - half + size); u++) pixels.push(v * width + u);
    start[i + 1] = pixels.length;
  });
  return { start, pixels: Uint32Array.from(pixels) };
}

/** Return the bytes of a picture in which nothing is busy. */
export function idleOf(size, ...lists) {
  const bytes = new Uint8Array(size).fill(NOTHING);
  for (const { pixels } of lists) for (let k = 0; k < pixels.length; k++) bytes[pixels[k]] = 1;
  return bytes;
}

/** Add lines or squares with their loads to a frame. */
export function addLoads(frame, { start, pixels }, loads) {
  for (let i = 0; i + 1 < start.length; i++) {
    const value = loads[i] + 1;
    if (value === 1) continue;
    const end = start[i + 1];
    for (let k = start[i]; k < end; k++) if (frame[pixels[k]] < value) frame[pixels[k]] = value;
  }
  return frame;
}

let known = null;

/** Return the colours of all bytes, as pixels of an image have them. */
export function palette() {
  if (known) return known;
  known = new Uint32Array(256);
  const parts = new Uint8Array(known.buffer);
  for (let byte = 1; byte < 256; byte++) {
    const rgb = heat(Math.min(1, (byte - 1) / FULL))
      .match(/\d+/g)
      .map(Number);
    // What is idle stays in the background.
    parts.set([...rgb, byte === 1 ? 110 : 255], 4 * byte);
  }
  return known;
}

/** Colour a frame into the pixels of an image. */
export function colour(frame, image) {
  const colours = palette();
  for (let i = 0; i < frame.length; i++) image[i] = colours[frame[i]];
}
