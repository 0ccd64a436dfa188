/* Charts and their data as files: SVG and PNG at the width of a column of a paper, CSV with a row per point. */
import { el, svg } from "./elements.js";
import { finite } from "./numbers.js";

/* A column of a paper in millimetres, and in the pixels in which it is drawn. */
const COLUMN_MM = 85;
const COLUMN_PX = 340;
/* Pixels of a PNG for one of the drawing: about 300 per inch. */
const FINE = 3;
/* Colours of the page where a figure is printed: what stands on white. */
const PRINTED = { "--ink": "#17202e", "--soft": "#5b6675", "--grid": "#e9edf3", "--card": "#ffffff", "--accent": "#2563a8" };
const LEGEND_ROW = 16;

const cell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};

/** Return what a chart shows as CSV: a row per point, with the range of its seeds where it has one. */
export function csvOf({ xLabel, yLabel, names }, shown) {
  const head = ["line", xLabel, yLabel, "least", "greatest", "remark"];
  const rows = shown.flatMap((line) =>
    line.points
      .filter((point) => finite(point[0]))
      .map(([x, y, low, high, remark, bound]) => {
        const said = [remark, bound ? "more than" : ""].filter(Boolean).join(", ");
        return [line.name, names ? names[x] : x, y, low, high, said];
      }),
  );
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** Add a legend below a drawing, a line per row. */
function addLegend(root, series, top) {
  series.forEach(({ name, colour, dash }, i) => {
    const y = top + i * LEGEND_ROW;
    const line = {
      x1: 12,
      x2: 34,
      y1: y - 4,
      y2: y - 4,
      stroke: colour,
      "stroke-width": 1.9,
      "stroke-dasharray": dash || "none",
    };
    root.append(svg("line", line), svg("text", { x: 40, y }, name));
  });
}

/** Return a drawing as the text of an SVG file that needs no style of a page. */
export function svgText(root, series) {
  const [, , width, drawn] = root.getAttribute("viewBox").split(" ").map(Number);
  const rows = series.length > 1 ? series.length : 0;
  const height = drawn + rows * LEGEND_ROW;
  if (rows) addLegend(root, series, drawn + LEGEND_ROW - 4);
  root.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("width", `${COLUMN_MM}mm`);
  root.setAttribute("height", `${((COLUMN_MM * height) / width).toFixed(2)}mm`);
  const style = "text{fill:#5b6675;font:11.5px Helvetica,Arial,sans-serif}text.axis{fill:#17202e;font-size:12px}";
  root.prepend(svg("style", {}, style));
  const text = new XMLSerializer().serializeToString(root);
  return text.replace(/var\((--\w+)\)/g, (whole, name) => PRINTED[name] || whole);
}

function download(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* Draw the text of an SVG as a PNG. */
function savePng(name, text) {
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas", {});
    canvas.width = FINE * COLUMN_PX;
    canvas.height = Math.round((canvas.width * image.height) / image.width);
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(name, blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

/** Return a name for a file of a chart. */
export const fileName = ({ xLabel, yLabel }) =>
  `${yLabel} ${xLabel}`
    .replace(/\[[^\]]*\]/g, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();

/**
 * Return buttons that save a chart: `shownOf` gives the series that are shown, `pictureAt` a new drawing of so many pixels.
 */
export function dataButtons(options, shownOf, pictureAt) {
  const name = fileName(options);
  const text = () => svgText(pictureAt(COLUMN_PX), shownOf());
  const saves = {
    SVG: () => download(`${name}.svg`, new Blob([text()], { type: "image/svg+xml" })),
    PNG: () => savePng(`${name}.png`, text()),
    CSV: () => download(`${name}.csv`, new Blob([csvOf(options, shownOf())], { type: "text/csv" })),
  };
  const button = ([kind, onclick]) => el("button", { type: "button", title: `save this figure as ${kind}`, onclick }, kind);
  return el("div", { class: "saving" }, Object.entries(saves).map(button));
}
