/**
 * Owns `connectHttp`: a client of a server behind a URL.
 */

import { openClient } from "../lib/client.js";
import { HttpTransport } from "./http-transport.js";

/** Connects over Streamable HTTP. Rejects with what ended the handshake. */
function connectHttp(options) {
  return openClient(options, new HttpTransport(options ?? {}));
}

export { connectHttp };
