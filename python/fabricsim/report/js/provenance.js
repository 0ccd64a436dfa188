/* Where a page comes from, and its foot. */
import { el, section } from "./elements.js";

/** Draw what a page was made of, as names with their texts, and what follows. */
export function provenance(hint, facts, ...children) {
  const entries = facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]);
  section("Where this comes from", hint, el("dl", {}, entries), ...children);
}

/** Write the foot of a page. */
export const foot = (...parts) =>
  document.getElementById("foot").append([...parts, "this file needs no network"].join(" \u00b7 "));
