// The tools that the conformance suite asks a server for, over HTTP. The suite fixes names, texts and
// shapes. Prints its address.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createRequire } from "node:module";
import { listen } from "../js/support/http.mjs";

const require = createRequire(new URL("../../pkg/package.json", import.meta.url));
const { createHttpHandler } = require("toolwire/web");

const text = (words) => ({ content: [{ type: "text", text: words }] });
const object = (properties, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAESsAACJWAAACABAAZGF0YQAAAAA=";

const SCHEMA_2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const secret = randomBytes(32);

/** State that comes back unchanged or not at all. */
function sealed(state) {
  const body = Buffer.from(JSON.stringify(state)).toString("base64url");
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

function unsealed(text) {
  const [body, seal = ""] = String(text).split(".");
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(seal, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw Object.assign(new Error("requestState is not ours"), { rpcCode: -32602 });
  }
  return JSON.parse(Buffer.from(body, "base64url").toString());
}

const elicitation = (message, properties) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: object(properties) },
});
const sampling = (question, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens },
});
const roots = { method: "roots/list", params: {} };
const asks = (inputRequests, state) => ({
  resultType: "input_required",
  inputRequests,
  ...(state === undefined ? {} : { requestState: sealed(state) }),
});

const NAME = { name: { type: "string" } };

/** The accepted content of an answer to an elicitation, if it has these members as strings. */
function contentOf(answer, member) {
  const value = answer?.action === "accept" ? answer.content?.[member] : undefined;
  return typeof value === "string" ? value : undefined;
}

const TOOLS = {
  test_simple_text: () => text("This is a simple text response for testing."),
  test_image_content: () => ({ content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] }),
  test_audio_content: () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }),
  test_error_handling: () => ({
    ...text("This tool intentionally returns an error for testing"),
    isError: true,
  }),
  test_tool_with_progress: async (args, { progress }) => {
    for (const step of [0, 50, 100]) {
      progress(step, 100);
      await pause(50);
    }
    return text("done");
  },
  test_tool_with_logging: async (args, { log }) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      log("info", words);
      await pause(50);
    }
    return text("done");
  },
  test_logging_tool: (args, { log }) => {
    log("info", "only for who asked");
    return text("done");
  },
  test_streaming_elicitation: (args, { inputResponses }) =>
    inputResponses === undefined
      ? asks({ user_name: elicitation("What is your name?", NAME) })
      : text("done"),
  test_missing_capability: () => asks({ sample: sampling("Anything?", 10) }),
  test_trigger_tool_change: () => {
    changes += 1;
    handler.setTools([...tools, tool(`test_changed_${changes}`)]);
    return text("changed");
  },
  test_input_required_result_elicitation: (args, { inputResponses }) => {
    const name = contentOf(inputResponses?.user_name, "name");
    return name === undefined
      ? asks({ user_name: elicitation("What is your name?", NAME) })
      : text(`Hello, ${name}!`);
  },
  test_input_required_result_sampling: (args, { inputResponses }) => {
    const said = inputResponses?.capital_question?.content?.text;
    return said === undefined
      ? asks({ capital_question: sampling("What is the capital of France?", 100) })
      : text(said);
  },
  test_input_required_result_list_roots: (args, { inputResponses }) => {
    const given = inputResponses?.client_roots?.roots;
    return Array.isArray(given) ? text(JSON.stringify(given)) : asks({ client_roots: roots });
  },
  test_input_required_result_request_state: (args, { inputResponses, requestState }) => {
    if (inputResponses?.confirm === undefined || requestState === undefined) {
      const confirm = elicitation("Please confirm", { ok: { type: "boolean" } });
      return asks({ confirm }, { step: 1 });
    }
    return text(`state-ok ${unsealed(requestState).step}`);
  },
  test_input_required_result_multiple_inputs: (args, { inputResponses, requestState }) => {
    const all = {
      user_name: elicitation("What is your name?", NAME),
      greeting: sampling("Generate a greeting", 50),
      client_roots: roots,
    };
    const complete = Object.keys(all).every((key) => inputResponses?.[key] !== undefined);
    if (!complete || requestState === undefined) {
      return asks(all, { step: 1 });
    }
    unsealed(requestState);
    return text(JSON.stringify(inputResponses));
  },
  test_input_required_result_multi_round: (args, { inputResponses, requestState }) => {
    const { step = 0, name } = requestState === undefined ? {} : unsealed(requestState);
    const given = contentOf(inputResponses?.step1, "name");
    if (step === 1 && given !== undefined) {
      const step2 = elicitation("Step 2: What is your favorite color?", { color: { type: "string" } });
      return asks({ step2 }, { step: 2, name: given });
    }
    const color = contentOf(inputResponses?.step2, "color");
    if (step === 2 && color !== undefined) {
      return text(`${name} likes ${color}`);
    }
    return asks({ step1: elicitation("Step 1: What is your name?", NAME) }, { step: 1 });
  },
  test_input_required_result_tampered_state: (args, { inputResponses, requestState }) => {
    if (requestState === undefined) {
      return asks({ confirm: elicitation("Please confirm", { ok: { type: "boolean" } }) }, { step: 1 });
    }
    unsealed(requestState);
    return text(inputResponses === undefined ? "no answer" : "state-ok");
  },
  test_input_required_result_capabilities: (args, { inputResponses, meta }) => {
    if (inputResponses !== undefined) {
      return text("done");
    }
    const declared = meta["io.modelcontextprotocol/clientCapabilities"];
    const possible = {
      elicitation: { user_name: elicitation("What is your name?", NAME) },
      sampling: { greeting: sampling("Generate a greeting", 50) },
      roots: { client_roots: roots },
    };
    const requests = Object.keys(possible).filter((capability) => declared[capability] !== undefined);
    return asks(Object.assign({}, ...requests.map((capability) => possible[capability])));
  },
  json_schema_2020_12_tool: () => text("done"),
  test_param_headers: () => text("done"),
};

let changes = 0;

const SCHEMAS = {
  json_schema_2020_12_tool: SCHEMA_2020,
  test_param_headers: object({ region: { type: "string", "x-mcp-header": "Region" } }, []),
};

function tool(name) {
  const inputSchema = SCHEMAS[name] ?? { type: "object" };
  return { name, description: `${name} of the conformance suite`, inputSchema };
}

const tools = Object.keys(TOOLS).map(tool);

const handler = createHttpHandler(
  {
    serverInfo: { name: "conformance", version: "1.0.0" },
    tools,
    handleCall: (name, args, identity, context) => TOOLS[name](args, context),
  },
  { logging: true },
);

const url = await listen({ after() {} }, handler);
url.hostname = "localhost";
process.stdout.write(`${url}\n`);
