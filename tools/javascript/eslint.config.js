// Rules for the scripts of the report and their tests. Their form is prettier's.
import js from "@eslint/js";

const browser = [
  ...["document", "devicePixelRatio", "innerWidth", "innerHeight", "addEventListener", "setTimeout", "clearTimeout"],
  ...["getComputedStyle", "atob", "Blob", "Image", "URL", "XMLSerializer"],
  ...["fetch", "EventSource", "encodeURIComponent", "requestAnimationFrame", "performance"],
];
const readable = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

export default [
  js.configs.recommended,
  {
    files: ["python/fabricsim/**/*.js"],
    languageOptions: { globals: readable(browser) },
    rules: {
      // What joins the modules into one script knows named imports and exports only.
      "no-restricted-syntax": ["error", "ImportDefaultSpecifier", "ImportNamespaceSpecifier", "ExportDefaultDeclaration"],
    },
  },
  {
    files: ["tests/javascript/*.mjs"],
    languageOptions: { globals: readable(["btoa", "setTimeout", "performance"]) },
  },
  {
    rules: {
      "max-len": ["error", { code: 130, ignoreUrls: true }],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      complexity: ["error", 15],
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-shadow": "error",
      "no-unused-vars": "error",
    },
  },
];
