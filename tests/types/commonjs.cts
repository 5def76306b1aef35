// A CommonJS program finds the same declarations.
import toolwire = require("toolwire");
import { connect } from "toolwire/node";

const verdict: toolwire.Verdict = toolwire.compileSchema(true).validate(1);

export { connect, verdict };
