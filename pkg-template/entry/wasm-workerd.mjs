/**
 * The binary where WebAssembly may not be compiled from bytes: the host hands over a module that it
 * compiled when the program was deployed.
 */

import module from "../../toolwire.wasm";
import { setBytes } from "../lib/core.js";

setBytes(() => module);
