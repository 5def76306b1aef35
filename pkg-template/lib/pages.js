/**
 * Owns walking a list that comes in pages. Invariant: it ends. An absent or null cursor ends it, an
 * empty one does not; so do a number of pages, and a cursor that repeats and brings nothing new.
 */

import { refused } from "./arguments.js";
import { pick } from "./options.js";

/** Pages of one walk, unless told otherwise. */
const MAX_PAGES = 256;

/** Where a page of each method has its items. */
const ITEMS = {
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
  "tasks/list": "tasks",
  "tools/list": "tools",
};

/** The pages of a list, one request each. */
async function* pagesOf(client, method, params, options) {
  const { maxPages = MAX_PAGES, items = ITEMS[method] } = pick(options, ["maxPages", "items"]);
  if (!Number.isSafeInteger(maxPages) || maxPages < 1) {
    throw refused("maxPages");
  }
  const cursors = new Set();
  const seen = new Set();
  let asked = params;
  for (let count = 1; ; count += 1) {
    const page = await client.request(method, asked, options);
    const fresh = newItems(page?.[items], seen);
    yield page;
    const cursor = page?.nextCursor;
    const repeats = cursors.has(cursor) && fresh === 0;
    if (typeof cursor !== "string" || repeats || count === maxPages) {
      return;
    }
    cursors.add(cursor);
    asked = { ...params, cursor };
  }
}

/** The items of all pages. */
async function requestAll(client, method, params, options) {
  const { items = ITEMS[method] } = pick(options, ["items"]);
  if (typeof items !== "string") {
    throw refused("items");
  }
  const all = [];
  for await (const page of pagesOf(client, method, params, options)) {
    if (Array.isArray(page?.[items])) {
      // Not spread: a page may hold more than a call takes arguments.
      for (const item of page[items]) {
        all.push(item);
      }
    }
  }
  return all;
}

/** How many items were not there before. */
function newItems(items, seen) {
  const before = seen.size;
  for (const item of Array.isArray(items) ? items : []) {
    seen.add(JSON.stringify(item, (_, value) => (typeof value === "bigint" ? `${value}` : value)));
  }
  return seen.size - before;
}

export { pagesOf, requestAll };
