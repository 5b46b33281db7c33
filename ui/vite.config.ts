import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// The server sends the page with a strict content policy: no inline script or style, nothing from elsewhere.
export default defineConfig({
  base: "/",
  plugins: [svelte()],
  build: {
    outDir: "../src/sill/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:8765" },
  },
  test: { include: ["test/**/*.test.ts"] },
});
