/* A table of many rows, of which only those in sight are elements. */
import { el } from "../../report/js/elements.js";
import { columnsOf, isRight, sortedBy, textOf } from "../../report/js/runs.js";

/* Height of a row in pixels, as the style sheet has it, and rows beyond what is in sight. */
export const ROW = 32;
const BEYOND = 12;

/** Return the first row that is made, and the one after the last. */
export function windowOf(top, height, count) {
  const first = Math.max(0, Math.min(count, Math.floor(top / ROW)) - BEYOND);
  return [first, Math.min(count, Math.ceil((top + height) / ROW) + BEYOND)];
}

function cell(column, run) {
  const text = textOf(column, run);
  return el("td", { class: column.className(run), title: (column.title && column.title(run)) || text }, text);
}

const space = (rows, width) => el("tr", { class: "space" }, el("td", { colspan: width, style: `height:${rows * ROW}px` }));

/** Return the row that a key leads to from another, null where the key is for nothing here. */
export function rowAfter(key, at, count, page) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
  return key in steps ? Math.max(0, Math.min(count - 1, at + steps[key])) : null;
}

function headOf(column, order, click) {
  const on = order.name === column.name;
  const sorted = on ? { "aria-sort": order.sign > 0 ? "ascending" : "descending" } : {};
  const mark = on ? (order.sign > 0 ? " \u2191" : " \u2193") : "";
  const button = el("button", { type: "button", onclick: click }, column.name + mark);
  return el("th", { class: isRight(column) ? "n" : "", ...sorted }, button);
}

/**
 * Make the table; what it returns shows other data in it, in the order that was chosen, where it was scrolled to. `pick` is told
 * the run that is clicked or entered, and whether it is to stand beside another: with Shift.
 */
export function rowsTable(host, pick = () => {}) {
  const [head, body] = [el("thead", {}), el("tbody", {})];
  const table = el("table", {}, head, body);
  const box = el("div", { class: "rows", tabindex: "0", role: "region", "aria-label": "runs" }, table);
  host.append(box);
  const order = { name: "", sign: 1 };
  let [data, columns, runs, at, drawn] = [null, [], [], -1, [0, 0]];
  const fill = () => {
    // What is in sight is at most the window; the box itself grows with its rows.
    const [first, end] = windowOf(box.scrollTop, innerHeight, runs.length);
    drawn = [first, end];
    const row = (run, i) =>
      el(
        "tr",
        { class: first + i === at ? "on" : "", onclick: (event) => choose(first + i, event.shiftKey) },
        columns.map((column) => cell(column, run)),
      );
    const width = columns.length;
    body.replaceChildren(space(first, width), ...runs.slice(first, end).map(row), space(runs.length - end, width));
  };
  const choose = (place, beside) => {
    at = place;
    fill();
    pick(runs[place], beside);
  };
  // Rows that are scrolled to are made before they are in sight: there is nothing to do while those that are made are enough.
  const scrolled = () => {
    const [top, bottom] = [Math.floor(box.scrollTop / ROW), Math.ceil((box.scrollTop + box.clientHeight) / ROW)];
    if (top < drawn[0] || Math.min(bottom, runs.length) > drawn[1]) fill();
  };
  // Columns keep the widths that their first rows ask for, so that they do not move under the eye.
  const settle = () => {
    const heads = [...head.querySelectorAll("th")];
    const widths = heads.map((one) => one.offsetWidth);
    heads.forEach((one, i) => Object.assign(one.style, { width: `${widths[i]}px` }));
    Object.assign(table.style, { tableLayout: "fixed", width: `${widths.reduce((sum, width) => sum + width, 0)}px` });
  };
  const arrange = () => {
    columns = columnsOf(data);
    const chosen = columns.find((column) => column.name === order.name);
    runs = chosen ? sortedBy(data.runs, chosen.value, order.sign) : data.runs;
    const click = (name) => () => {
      Object.assign(order, { sign: order.name === name ? -order.sign : 1, name });
      arrange();
      // The heads are made anew, and the keyboard is to stay where it was.
      head.querySelectorAll("button")[columns.findIndex((column) => column.name === name)].focus();
    };
    head.replaceChildren(
      el(
        "tr",
        {},
        columns.map((column) => headOf(column, order, click(column.name))),
      ),
    );
    Object.assign(table.style, { tableLayout: "", width: "" });
    fill();
    settle();
  };
  box.addEventListener("scroll", scrolled);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === box && runs[at]) {
      choose(at, event.shiftKey);
      return;
    }
    const to = event.target === box ? rowAfter(event.key, at, runs.length, Math.floor(box.clientHeight / ROW) - 2) : null;
    if (to === null) return;
    event.preventDefault();
    at = to;
    const top = at * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + 3 * ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + 3 * ROW - box.clientHeight;
    fill();
  });
  return (found) => {
    data = found;
    arrange();
  };
}
