/**
 * Owns which HTTP requests are let in: host and origin (against DNS rebinding and foreign pages),
 * method, media types, size. Invariant: nothing of a request is echoed but an origin that is
 * allowed and names of `Mcp-Param-*` headers.
 */

import { refused } from "../lib/arguments.js";
import { Gathered } from "./gathered.js";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

const ALLOWED_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
].join(", ");

const PARAM_HEADER = /^mcp-param-[a-z0-9-]+$/i;

/** Hosts and origins that may ask. */
class Doorkeeper {
  #hosts;
  #origins;

  constructor(allowedHosts = LOOPBACK, allowedOrigins = []) {
    this.#hosts = listOf(allowedHosts, "allowedHosts");
    this.#origins = listOf(allowedOrigins, "allowedOrigins");
  }

  /** A response for a request that may not come in; undefined for one that may. */
  refuse(request) {
    const hosts = [new URL(request.url).host];
    const named = request.headers.get("host");
    if (named !== null) {
      hosts.push(named);
    }
    if (!hosts.every((host) => this.#isHost(host))) {
      return plainError(403, "The host is not allowed");
    }
    const origin = request.headers.get("origin");
    if (origin !== null && !this.#isOrigin(origin)) {
      return plainError(403, "The origin is not allowed");
    }
    return undefined;
  }

  #isHost(host) {
    return this.#hosts === undefined || matches(this.#hosts, host);
  }

  #isOrigin(origin) {
    if (this.#origins === undefined || this.#origins.includes(origin.toLowerCase())) {
      return true;
    }
    if (this.#hosts === undefined) {
      // Every host may be asked for, so a page says nothing by having the same.
      return false;
    }
    try {
      const { protocol, host } = new URL(origin);
      return (protocol === "http:" || protocol === "https:") && matches(this.#hosts, host);
    } catch {
      return false;
    }
  }
}

/** Undefined stands for all. */
function listOf(given, option) {
  if (given === "any") {
    return undefined;
  }
  if (!Array.isArray(given) || !given.every((entry) => typeof entry === "string")) {
    throw refused(option);
  }
  return given.map((entry) => entry.toLowerCase());
}

/** An entry without a port stands for every port. */
function matches(list, host) {
  const whole = host.toLowerCase();
  return list.includes(whole) || list.includes(whole.replace(/:\d+$/, ""));
}

/** The response with what a page of an origin that was let in needs to read it. */
function withCors(request, response) {
  const origin = request.headers.get("origin");
  if (origin === null) {
    return response;
  }
  // A copy: the host's own may be one whose headers cannot be changed, as of a redirect.
  const { body, status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", origin);
  headers.append("vary", "Origin");
  headers.set("access-control-expose-headers", "mcp-session-id, mcp-protocol-version");
  return new Response(body, { status, statusText, headers });
}

function preflight(request) {
  const asked = (request.headers.get("access-control-request-headers") ?? "").split(",");
  const params = asked.map((name) => name.trim()).filter((name) => PARAM_HEADER.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      "access-control-allow-headers": [ALLOWED_HEADERS, ...params].join(", "),
      "access-control-max-age": "600",
    },
  });
}

/** What a request's `Accept` lets a response be. Saying nothing allows JSON. */
function accepted(request) {
  const header = request.headers.get("accept");
  const types = (header ?? "application/json").split(",").map(mediaType);
  const any = types.includes("*/*");
  return {
    json: any || types.includes("application/json") || types.includes("application/*"),
    stream: any || types.includes("text/event-stream") || types.includes("text/*"),
  };
}

function hasJsonBody(request) {
  return mediaType(request.headers.get("content-type") ?? "") === "application/json";
}

function mediaType(text) {
  return text.split(";")[0].trim().toLowerCase();
}

/** The body's bytes, or undefined if there are more than allowed. */
async function bodyOf(request, maxBytes) {
  const declared = Number(request.headers.get("content-length"));
  if (declared > maxBytes) {
    await request.body?.cancel();
    return undefined;
  }
  if (request.body === null) {
    return new Uint8Array();
  }
  const reader = request.body.getReader();
  const body = new Gathered();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return body.take();
    }
    if (body.length + value.byteLength > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    body.add(value);
  }
}

/** An HTTP error with a JSON-RPC error in it, in words of our own. */
function plainError(status, message, headers = {}, code = -32000) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  return new Response(body, {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

export { Doorkeeper, accepted, bodyOf, hasJsonBody, plainError, preflight, withCors };
