/* Elements of the page. Text always goes in as text, never as markup. */

/** Make an element; attributes that begin with "on" are listeners, null and undefined children are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

/** Make an element of a drawing. */
export function svg(tag, attributes = {}, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/** Add a section to the page. */
export function section(title, hint, ...children) {
  const node = el("section", {}, el("h2", {}, title), hint ? el("p", { class: "hint" }, hint) : null, ...children);
  document.getElementById("main").append(node);
  return node;
}

/* Choices that go together, by what they choose: those of one name are set by each other where they offer the same. */
const linked = new Map();

/**
 * Make a choice among [value, text]; `change` is told the value.
 *
 * Choices with the same `link` are linked: what is chosen in one is chosen in the others on the page that offer it.
 */
export function chooser(label, options, value, change, { link = null } = {}) {
  const items = options.map(([key, text]) => el("option", { value: key, ...(key === value ? { selected: "" } : {}) }, text));
  const others = () => (linked.get(link) || []).filter((one) => one.select !== select && one.select.isConnected !== false);
  const onchange = () => {
    change(select.value);
    for (const one of others())
      if (one.offers.has(select.value) && one.select.value !== select.value) {
        one.select.value = select.value;
        one.change(select.value);
      }
  };
  const select = el("select", { onchange }, items);
  const mine = { select, change, offers: new Set(options.map(([key]) => key)) };
  if (link) linked.set(link, [...others(), mine]);
  return el("label", {}, label, select);
}

/** Make a table that scrolls: names of columns that hold numbers are in `numbers`. */
export function table(heads, rows, { numbers = [], className = "" } = {}) {
  const titles = heads.map((name) => el("th", numbers.length ? { class: numbers.includes(name) ? "n" : "" } : {}, name));
  return el("div", { class: "scroll" }, el("table", className ? { class: className } : {}, el("tr", {}, titles), rows));
}

/** Show a text beside the pointer. */
export function showTip(event, text) {
  const tip = document.getElementById("tip");
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const below = event.clientY + box.height + 24 <= innerHeight;
  tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 8, event.clientX + 14)) + "px";
  tip.style.top = (below ? event.clientY + 16 : event.clientY - box.height - 12) + "px";
}

export function hideTip() {
  document.getElementById("tip").hidden = true;
}

/** Return the different items, in order. */
export const unique = (items) => [...new Set(items)];

/** Draw the head of a page: title, badge as [class, text], paragraphs, tiles as [value, label]. */
export function head(title, badge, leads, tiles) {
  const told = leads.filter(Boolean).map((text) => el("p", { class: "lead" }, text));
  const boxes = tiles.map(([value, label]) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label)));
  document
    .getElementById("top")
    .append(
      el("div", { class: "title" }, el("h1", {}, title), el("span", { class: `badge ${badge[0]}` }, badge[1])),
      ...told,
      el("div", { class: "tiles" }, boxes),
    );
}

const redraws = [];
let wait = 0;

/** Have something drawn again when the width of the page changes. */
export function onResize(draw) {
  if (!redraws.length)
    addEventListener("resize", () => {
      clearTimeout(wait);
      wait = setTimeout(() => redraws.forEach((each) => each()), 120);
    });
  redraws.push(draw);
}

/** Return what the page holds. */
export const embedded = () => JSON.parse(document.getElementById("data").textContent);
