/**
 * The same where the name of the file must say that a compiled module is wanted.
 */

import module from "../../toolwire.wasm?module";
import { setBytes } from "../lib/core.js";

setBytes(() => module);
