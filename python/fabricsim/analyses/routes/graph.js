/* mpiGraph: the bandwidth of every pair of hosts as a picture. */
import { heat } from "../../report/js/colours.js";
import { ramp, unpack } from "../../report/js/drawing.js";
import { chooser, el, hideTip, section, showTip } from "../../report/js/elements.js";
import { share } from "./comparison.js";

/* The byte of a pair that has no bandwidth, and that of a whole link. */
const NOTHING = 255;
const WHOLE = 250;

/** Return a cell as red, green, blue, opacity. */
export function pixelOf(byte) {
  if (byte === NOTHING) return [128, 128, 128, 60];
  return [
    ...heat(1 - byte / WHOLE)
      .match(/\d+/g)
      .map(Number),
    255,
  ];
}

function pictureOf({ rows, step, cells }, hosts) {
  const values = unpack(cells);
  const canvas = el("canvas", { style: "image-rendering:pixelated;max-width:620px;aspect-ratio:1" });
  canvas.width = canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(rows, rows);
  values.forEach((byte, i) => image.data.set(pixelOf(byte), 4 * i));
  context.putImageData(image, 0, 0);
  const name = (i) => (step > 1 ? `hosts ${i * step} to ${Math.min(hosts, (i + 1) * step) - 1}` : `host ${i}`);
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (at, size) => Math.min(rows - 1, Math.floor((at / size) * rows));
    const column = place(event.clientX - box.left, box.width);
    const row = place(event.clientY - box.top, box.height);
    const byte = values[row * rows + column];
    const words = byte === NOTHING ? "nothing" : (byte / WHOLE).toFixed(2) + " of a link";
    showTip(event, `from ${name(row)}\nto ${name(column)}\n${words}`);
  });
  canvas.addEventListener("mouseleave", hideTip);
  return canvas;
}

export function graphs({ engines, fabric }) {
  const known = engines.filter((e) => e.graph);
  if (!known.length) return;
  const [controls, host] = [el("div", { class: "controls" }), el("div", { class: "pair" })];
  section(
    "Every pair of hosts (mpiGraph)",
    "Bandwidth from the row's host to the column's while all hosts send by the same shift: dark is slow. Large fabrics are " +
      "shown in means of neighbouring hosts.",
    controls,
    host,
  );
  const figure = (e) => {
    const title = el("h3", {}, `${e.name}: mean ${share(e.row.shift_mean)}`);
    return el("figure", {}, title, pictureOf(e.graph, fabric.hosts), ramp("slow", "a whole link", [1, 0.75, 0.5, 0.25, 0]));
  };
  const chosen = known.slice(0, 2).map((e) => e.name);
  const show = () => host.replaceChildren(...chosen.map((name) => figure(known.find((e) => e.name === name))));
  const names = known.map((e) => [e.name, e.name]);
  const side = (label, place) =>
    chooser(label, names, chosen[place], (name) => {
      chosen[place] = name;
      show();
    });
  if (known.length > 2) controls.append(side("left", 0), side("right", 1));
  show();
}
