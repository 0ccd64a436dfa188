/* The network of a run as arrays, and the pictures that can be made of it: routers, groups, one group, a matrix of groups. */
import { unpack } from "../../report/js/drawing.js";

const array = (text, Kind) => new Kind(unpack(text).buffer);
const unpacked = (table, kinds) =>
  Object.fromEntries(Object.entries(kinds).map(([name, Kind]) => [name, array(table[name], Kind)]));

/** Return the network of a picture as the server tells it, with its numbers as typed arrays. */
export function networkOf(data) {
  const numbers = { router: Uint32Array, port: Uint32Array, peer: Uint32Array, class: Uint8Array, name: Uint32Array };
  const routers = { x: Float32Array, y: Float32Array, group: Int32Array, nodes: Uint32Array };
  return {
    ...data,
    routers: { name: data.routers.name, ...unpacked(data.routers, routers) },
    links: unpacked(data.links, numbers),
    jobs: data.jobs.map((job) => ({ ...job, routers: array(job.routers, Uint32Array) })),
  };
}

/** Return how many routers and links a network has. */
export const sizeOf = ({ routers, links }) => [routers.x.length, links.router.length];

/** Return the name of the link in a place: `(0,1) x+ → (1,1)`. */
export function linkName({ routers, links, port_names: ports }, place) {
  const [from, to] = [routers.name[links.router[place]], routers.name[links.peer[place]]];
  const by = ports[links.name[place]];
  return by === `to ${to}` ? `${from} \u2192 ${to}` : `${from} ${by} \u2192 ${to}`;
}

/** Return the items 0 to `count` by their keys: the keys, and of each where its `items` start; keys below zero are left out. */
export function keyed(count, keyOf) {
  const places = new Map();
  const [at, sizes] = [new Int32Array(count), []];
  for (let i = 0; i < count; i++) {
    const key = keyOf(i);
    let place = key < 0 ? -1 : places.get(key);
    if (place === undefined) {
      place = sizes.length;
      places.set(key, place);
      sizes.push(0);
    }
    at[i] = place;
    if (place >= 0) sizes[place]++;
  }
  const start = new Uint32Array(sizes.length + 1);
  sizes.forEach((size, i) => (start[i + 1] = start[i] + size));
  const [next, items] = [start.slice(), new Uint32Array(start[sizes.length])];
  for (let i = 0; i < count; i++) if (at[i] >= 0) items[next[at[i]]++] = i;
  return { keys: [...places.keys()], start, items };
}

/** Write the load of each key, of its items' bytes, into `out`: that of the busiest, or the mean. */
export function loadsOf({ start, items }, bytes, out, mean = false) {
  for (let i = 0; i + 1 < start.length; i++) {
    let [most, sum] = [0, 0];
    for (let k = start[i]; k < start[i + 1]; k++) {
      const load = bytes[items[k]];
      if (load > most) most = load;
      sum += load;
    }
    out[i] = mean && start[i + 1] > start[i] ? Math.round(sum / (start[i + 1] - start[i])) : most;
  }
  return out;
}

/* Dots with their places in the unit square, and the cables between them; each has the links whose loads are its own. */
function sceneOf(net, dots, endsOf, ownOf, nameOf) {
  const [n, [, nLinks]] = [dots.length, sizeOf(net)];
  const edges = keyed(nLinks, (i) => {
    const [a, b] = endsOf(i);
    return a < 0 || b < 0 || a === b ? -1 : Math.min(a, b) * n + Math.max(a, b);
  });
  return {
    dots: { x: dots.map((dot) => dot[0]), y: dots.map((dot) => dot[1]), own: ownOf, name: nameOf },
    edges: { ...edges, a: edges.keys.map((key) => Math.floor(key / n)), b: edges.keys.map((key) => key % n) },
  };
}

/** Every router; a router's own load is that of its busiest link to a node. */
export function routersScene(net) {
  const { routers, links } = net;
  const [n, nLinks] = sizeOf(net);
  const dots = Array.from(routers.x, (x, i) => [x, routers.y[i]]);
  const ends = [0, 0];
  const endsOf = (i) => {
    [ends[0], ends[1]] = [links.router[i], links.peer[i] < n ? links.peer[i] : -1];
    return ends;
  };
  const own = {
    start: Uint32Array.from({ length: n + 1 }, (_, i) => i),
    items: Uint32Array.from(routers.x, (_, i) => nLinks + i),
  };
  return {
    kind: "network",
    ...sceneOf(net, dots, endsOf, own, (i) => routers.name[i]),
    routerOf: (i) => i,
    dotOf: (router) => router,
  };
}

/** Return the names of the groups, those of routers that are in none at last. */
export const groupNames = ({ groups, routers }) => (routers.group.includes(-1) ? [...groups, "top"] : groups);
const groupOf = (net, router) => (net.routers.group[router] < 0 ? net.groups.length : net.routers.group[router]);

const onCircle = (count, radius) =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return [0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle)];
  });

/** Every group as one dot; its own load is that of the links within. */
export function groupsScene(net) {
  const { links } = net;
  const names = groupNames(net);
  const [n, nLinks] = sizeOf(net);
  const groups = (i) => (links.peer[i] < n ? [groupOf(net, links.router[i]), groupOf(net, links.peer[i])] : [-1, -1]);
  const within = keyed(nLinks, (i) => {
    const [a, b] = groups(i);
    return a === b ? a : -1;
  });
  // Dots are numbered by group, keys as they come.
  const own = spread(within, names.length);
  const scene = sceneOf(net, onCircle(names.length, 0.5), groups, own, (i) => names[i]);
  return { kind: "groups", ...scene, groupOf: (i) => i, dotOf: (router) => groupOf(net, router) };
}

/** Return items of keys that are numbers below `count`, in the order of those. */
function spread({ keys, start, items }, count) {
  const own = Array.from({ length: count }, () => []);
  keys.forEach((key, i) => (own[key] = items.subarray(start[i], start[i + 1])));
  const starts = new Uint32Array(count + 1);
  own.forEach((list, i) => (starts[i + 1] = starts[i] + list.length));
  return { start: starts, items: Uint32Array.from(own.flatMap((list) => [...list])) };
}

/** The routers of one group, and around them the groups that they have links to. */
export function groupScene(net, group) {
  const { routers, links } = net;
  const [n, nLinks] = sizeOf(net);
  const inside = [];
  for (let router = 0; router < n; router++) if (groupOf(net, router) === group) inside.push(router);
  const around = new Set();
  for (let i = 0; i < nLinks; i++) {
    if (links.peer[i] >= n) continue;
    const [a, b] = [groupOf(net, links.router[i]), groupOf(net, links.peer[i])];
    if (a === group && b !== group) around.add(b);
    if (b === group && a !== group) around.add(a);
  }
  const others = [...around].sort((a, b) => a - b);
  const dotOf = new Map(inside.map((router, i) => [router, i]));
  const ringOf = new Map(others.map((other, i) => [other, inside.length + i]));
  const dotAt = (router) => (dotOf.has(router) ? dotOf.get(router) : ringOf.get(groupOf(net, router)));
  const endsOf = (i) => {
    const [a, b] = [links.router[i], links.peer[i]];
    return b < n && (dotOf.has(a) || dotOf.has(b)) ? [dotAt(a), dotAt(b)] : [-1, -1];
  };
  const places = centred(inside.map((router) => [routers.x[router], routers.y[router]]));
  const dots = [...places, ...onCircle(others.length, 0.5)];
  const own = {
    start: Uint32Array.from({ length: dots.length + 1 }, (_, i) => Math.min(i, inside.length)),
    items: Uint32Array.from(inside, (router) => nLinks + router),
  };
  const names = groupNames(net);
  const nameOf = (i) => (i < inside.length ? routers.name[inside[i]] : names[others[i - inside.length]]);
  return {
    kind: "group",
    ...sceneOf(net, dots, endsOf, own, nameOf),
    routerOf: (i) => (i < inside.length ? inside[i] : -1),
    groupOf: (i) => (i < inside.length ? -1 : others[i - inside.length]),
    dotOf: (router) => (dotOf.has(router) ? dotOf.get(router) : -1),
  };
}

/** Return places moved and stretched into the middle of the unit square. */
function centred(places) {
  const box = [0, 1].map((of) => {
    const values = places.map((place) => place[of]);
    const least = values.reduce((a, b) => Math.min(a, b), Infinity);
    return [least, values.reduce((a, b) => Math.max(a, b), -Infinity) - least || 1];
  });
  const only = places.length === 1;
  return places.map((place) => place.map((value, of) => (only ? 0.5 : 0.25 + (0.5 * (value - box[of][0])) / box[of][1])));
}

/** Groups by groups: what rows send to columns, on the diagonal within a group. */
export function matrixScene(net) {
  const { links } = net;
  const n = groupNames(net).length;
  const [nRouters, nLinks] = sizeOf(net);
  const cells = keyed(nLinks, (i) =>
    links.peer[i] < nRouters ? groupOf(net, links.router[i]) * n + groupOf(net, links.peer[i]) : -1,
  );
  return { kind: "matrix", n, cells, names: groupNames(net) };
}

/** Return how many nodes of each job are at each dot: [dot, [job, nodes], ...]. */
export function jobsAt(net, { dotOf }) {
  const found = new Map();
  net.jobs.forEach(({ routers }, job) => {
    for (const router of routers) {
      const dot = dotOf(router);
      if (dot < 0) continue;
      if (!found.has(dot)) found.set(dot, new Map());
      const at = found.get(dot);
      at.set(job, (at.get(job) || 0) + 1);
    }
  });
  return [...found].map(([dot, at]) => [dot, [...at]]);
}
