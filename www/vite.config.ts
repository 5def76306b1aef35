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
  },
  worker: { format: "es" },
});
