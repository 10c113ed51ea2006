// How the dashboard's JavaScript is checked; tests/test_javascript.py runs it.

import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "eqeqeq": "error",
      "no-implicit-globals": "error",
      "no-shadow": "error",
      "no-unused-expressions": "error",
      "no-var": "error",
      "prefer-const": "error",
      // Whatever comes from the server becomes text, never markup or code.
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": ["error",
        { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }],
    },
  },
];
