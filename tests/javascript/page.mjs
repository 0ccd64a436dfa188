/* What scripts of a page need of a browser: elements with children and attributes, and a canvas that draws nothing. */

class Element {
  constructor(tag) {
    Object.assign(this, {
      tag,
      children: [],
      attributes: {},
      listeners: {},
      style: {},
      hidden: false,
      parentElement: null,
      clientWidth: 600,
    });
  }
  append(...nodes) {
    for (const node of nodes) if (node instanceof Element) node.parentElement = this;
    this.children.push(...nodes);
  }
  replaceChildren(...nodes) {
    this.children = [];
    this.append(...nodes);
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name === "value") this.value = value;
  }
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  getBoundingClientRect() {
    return { left: 0, top: 0, width: this.clientWidth, height: 300 };
  }
  getContext() {
    const image = { data: new Uint8ClampedArray(1 << 16) };
    return new Proxy({}, { get: () => () => image, set: () => true });
  }
  get textContent() {
    return this.children.map((child) => (child instanceof Element ? child.textContent : String(child))).join("");
  }
  set textContent(text) {
    this.children = [text];
  }
  /** Return all elements below that have a tag, in order. */
  all(tag) {
    const below = this.children.filter((child) => child instanceof Element);
    return below.flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.all(tag)]);
  }
}

/** Make an empty page, and return its elements by id. */
export function emptyPage() {
  const byId = Object.fromEntries(["top", "main", "foot", "tip", "data"].map((id) => [id, new Element("div")]));
  globalThis.document = {
    body: new Element("body"),
    createElement: (tag) => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
    getElementById: (id) => byId[id],
  };
  Object.assign(globalThis, { devicePixelRatio: 1, innerWidth: 1200, innerHeight: 800 });
  globalThis.addEventListener = () => {};
  globalThis.getComputedStyle = () => ({ color: "black" });
  return byId;
}

/** Return the headings of the sections of a page. */
export const headings = ({ main }) => main.all("h2").map((node) => node.textContent);
