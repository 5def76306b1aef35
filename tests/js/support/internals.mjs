// The internal modules that tests look at directly.
export { childEnvironment } from "../../../pkg/cjs/node/env.cjs";
export { resolveCommand } from "../../../pkg/cjs/node/command.cjs";
export {
  parsePs,
  parseStat,
  processTable,
  processTableSync,
} from "../../../pkg/cjs/node/processes.cjs";
export { startProcess } from "../../../pkg/cjs/node/server-process.cjs";
export { shutDown } from "../../../pkg/cjs/node/shutdown.cjs";
export { treeOf } from "../../../pkg/cjs/node/tree.cjs";
export { forget, guard } from "../../../pkg/cjs/node/exit-hook.cjs";
export { planLaunch } from "../../../pkg/cjs/node/launch.cjs";
export { StdioTransport } from "../../../pkg/cjs/node/stdio-transport.cjs";
export { Gathered } from "../../../pkg/cjs/web/gathered.cjs";
export { EventStream, EventTooLong } from "../../../pkg/cjs/web/event-stream.cjs";
