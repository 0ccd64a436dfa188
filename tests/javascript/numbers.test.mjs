import assert from "node:assert/strict";
import { test } from "node:test";
import { compact, number } from "../../python/fabricsim/report/js/numbers.js";
import { quantity } from "../../python/fabricsim/report/js/quantities.js";

test("numbers keep four digits, and powers of ten where they are very large or small", () => {
  const cases = [
    [0, "0"],
    [12345, "12,345"],
    [1234.5678, "1,235"],
    [12.34567, "12.35"],
    [0.0123456, "0.01235"],
    [123456789, "1.23e8"],
    [0.00012, "1.20e-4"],
    [null, "\u2013"],
    [NaN, "\u2013"],
    [undefined, "\u2013"],
  ];
  for (const [value, text] of cases) assert.equal(number(value), text);
});

test("compact numbers have a prefix", () => {
  const cases = [
    [0, "0"],
    [7.5, "7.5"],
    [0.25, "0.25"],
    [0.025, "0.025"],
    [0.0025, "2.5e-3"],
    [0.0004, "4e-4"],
    [42, "42"],
    [1000, "1 k"],
    [1536, "1.54 k"],
    [12345, "12.3 k"],
    [2.5e6, "2.5 M"],
    [3e9, "3 G"],
    [-4e12, "-4 T"],
    [undefined, "\u2013"],
  ];
  for (const [value, text] of cases) assert.equal(compact(value), text);
});

test("quantities are ns, GB/s and bytes on axes", () => {
  const cases = [
    ["2 us", [2000, "ns"]],
    ["500 ps", [0.5, "ns"]],
    ["200 Gbit/s", [25, "GB/s"]],
    ["25 GB/s", [25, "GB/s"]],
    ["2 KiB", [2048, "B"]],
    ["1 MB", [1e6, "B"]],
    ["50 %", [50, "%"]],
    ["0.5", [0.5, ""]],
    ['"4"', [4, ""]],
    [3, [3, ""]],
    ["[4, 4, 4]", [64, "product"]],
  ];
  for (const [text, found] of cases) assert.deepEqual(quantity(text), found, text);
});

test("names are no quantities", () => {
  for (const text of ["ugal", "3 apples", "2 XB", "[a, b]", "", "{ kind = 1 }"]) assert.equal(quantity(text), null, text);
});
