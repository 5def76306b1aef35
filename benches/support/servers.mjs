// The real MCP servers that measurements start: each by its npm package, installed for the tests,
// with what it wants to see before it starts. No credential is real.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileOf } from "./packages.mjs";

export const SERVERS = [
  { name: "@modelcontextprotocol/server-everything" },
  { name: "@modelcontextprotocol/server-filesystem", args: [fileOf("benches")] },
  { name: "@modelcontextprotocol/server-memory" },
  { name: "@modelcontextprotocol/server-sequential-thinking" },
  { name: "@modelcontextprotocol/server-github" },
  { name: "@modelcontextprotocol/server-gitlab", env: { GITLAB_PERSONAL_ACCESS_TOKEN: "none" } },
  {
    name: "@modelcontextprotocol/server-slack",
    env: { SLACK_BOT_TOKEN: "none", SLACK_TEAM_ID: "none" },
  },
  { name: "@modelcontextprotocol/server-google-maps", env: { GOOGLE_MAPS_API_KEY: "none" } },
  { name: "@cyanheads/git-mcp-server" },
  { name: "@notionhq/notion-mcp-server", env: { NOTION_TOKEN: "none" } },
  { name: "@playwright/mcp" },
  { name: "chrome-devtools-mcp" },
];

/** The file that a package's command means; undefined if the package is not installed. */
export function programOf(name) {
  const folder = fileOf(`tests/node_modules/${name}`);
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) {
    return undefined;
  }
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  return join(folder, typeof bin === "string" ? bin : Object.values(bin)[0]);
}
