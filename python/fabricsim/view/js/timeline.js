/* How busy links were over time, as small lines under the slider: the busiest one and the mean of all. */
import { colourOf } from "../../report/js/colours.js";
import { prepare } from "../../report/js/drawing.js";

const HEIGHT = 46;
const PAD = 4;

/** Return a function of times that gives places from left to right. */
export const placeOf = (end, width) => (time) => PAD + ((width - 2 * PAD) * time) / (end || 1);

function line(context, { begin_ns: begins, end_ns: ends }, values, place, most) {
  context.beginPath();
  values.forEach((value, i) => {
    const y = HEIGHT - PAD - ((HEIGHT - 2 * PAD) * value) / most;
    if (i) context.lineTo(place(begins[i]), y);
    else context.moveTo(place(begins[i]), y);
    context.lineTo(place(ends[i]), y);
  });
  context.stroke();
}

/** Draw lines [windows, values, number of the colour, dashed] and a mark at a time; `most` is the value at the top. */
export function drawLines(canvas, lines, { end, at = null, most = 1 }) {
  const width = canvas.parentElement.clientWidth || 300;
  const context = prepare(canvas, width, HEIGHT);
  const place = placeOf(end, width);
  context.lineWidth = 1.3;
  for (const [windows, values, number, dashed] of lines) {
    context.strokeStyle = colourOf(number);
    context.setLineDash(dashed ? [4, 3] : []);
    line(context, windows, values, place, most);
  }
  context.setLineDash([]);
  if (at !== null) {
    context.strokeStyle = getComputedStyle(document.body).color;
    context.beginPath();
    context.moveTo(place(at), 0);
    context.lineTo(place(at), HEIGHT);
    context.stroke();
  }
}

/** Return the end of the last window of some runs (ns). */
export const endOf = (runs) =>
  runs.reduce((most, windows) => Math.max(most, windows ? windows.end_ns[windows.end_ns.length - 1] || 0 : 0), 0);
