/* Colours and dashes that tell lines apart, and the ramp from idle to full. */

export const COLOURS = ["#2f74c0", "#d9692f", "#2f9a62", "#9a58b5", "#bf962e", "#38a3ab", "#cc4f88", "#7a8494"];
const DASHES = ["none", "6 4", "2 3"];

/** Return the colour of the line of a number. */
export const colourOf = (index) => COLOURS[index % COLOURS.length];

/** Return the dash of the line of a number: lines of one colour have different ones. */
export const dashOf = (index) => DASHES[Math.floor(index / COLOURS.length) % DASHES.length];

/** Return the colour of a share from 0 to 1: from calm blue-grey over amber to deep red, darker all the way. */
export function heat(share) {
  const stops = [
    [196, 212, 230],
    [126, 172, 214],
    [242, 190, 84],
    [226, 112, 44],
    [150, 20, 34],
  ];
  const at = Math.max(0, Math.min(0.9999, share)) * (stops.length - 1);
  const below = Math.floor(at);
  const mixed = stops[below].map((part, i) => Math.round(part + (stops[below + 1][i] - part) * (at - below)));
  return `rgb(${mixed.join(",")})`;
}

/** Return the ramp as a background, of these shares from left to right. */
export const gradient = (shares) => `background:linear-gradient(90deg,${shares.map(heat).join(",")})`;
