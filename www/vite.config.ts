import { defineConfig } from "vite";

export default defineConfig({
  // Relative: the built site works from any folder.
  base: "./",
  build: {
    target: "es2022",
    // A data: URL is refused by the page's policy.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    // The editor's commands import a parser library that nothing here calls; it does nothing by itself.
    rolldownOptions: { treeshake: { moduleSideEffects: [{ test: /@lezer/, sideEffects: false }] } },
  },
  worker: { format: "es" },
});
