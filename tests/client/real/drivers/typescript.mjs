// The official TypeScript clients: `sdk` 1.x and `client` 2.x, whose calls differ in little more than how a
// notification is heard and how a session begins.
//
// `node typescript.mjs TASK`, beside the node_modules of one of them; prints the report that `test_real_clients`
// describes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";

const task = JSON.parse(process.argv[2]);
const info = { name: "driver", version: "1" };
const { client, transport, hear } = task.mode === "1.x" ? await first() : await second();

const heard = [];
let wake = () => {};
hear((uri) => {
  heard.push(uri);
  wake();
});

await client.connect(transport);
const report = { server: client.getServerVersion().name };
while (!(await call("notes_info", {})).structuredContent.index.complete);
report.tools = (await pages((params) => client.listTools(params), "tools")).map((tool) => tool.name);
report.resources = (await pages((params) => client.listResources(params), "resources")).map((each) => each.uri);
const templates = await pages((params) => client.listResourceTemplates(params), "resourceTemplates");
report.templates = templates.map((template) => template.uriTemplate);
report.prompts = (await pages((params) => client.listPrompts(params), "prompts")).map((prompt) => prompt.name);
report.resource = (await client.readResource({ uri: task.read })).contents[0].text;
const prompt = await client.getPrompt({ name: "summarize_note", arguments: { path: task.note } });
report.embedded = prompt.messages.flatMap(({ content }) => (content.type === "resource" ? [content.resource.text] : []));
report.note = (await call("read_note", { path: task.note })).content.at(-1).text;
report.found = (await call("search_notes", { query: task.query })).structuredContent.hits.map((hit) => hit.path);
const created = await call("create_note", { title: task.title, content: "by a real client" });
report.created = created.structuredContent.path;
const ref = { type: "ref/resource", uri: report.templates[0] };
const completed = await client.complete({ ref, argument: { name: "path", value: task.typed } });
report.completed = completed.completion.values;
report.updated = await saved();
report.cancelled = await cancelled();
await client.close();
console.log(JSON.stringify(report));

async function first() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client(info);
  return {
    client,
    transport: new StdioClientTransport(command()),
    hear: (tell) =>
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => tell(params.uri)),
  };
}

async function second() {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(info, { versionNegotiation: { mode: task.mode } });
  return {
    client,
    transport: new StdioClientTransport(command()),
    hear: (tell) => client.setNotificationHandler("notifications/resources/updated", ({ params }) => tell(params.uri)),
  };
}

function command() {
  const [command, ...args] = task.command;
  return { command, args };
}

function call(name, args, options) {
  return client.callTool({ name, arguments: args }, ...(task.mode === "1.x" ? [undefined, options] : [options]));
}

async function pages(fetch, name) {
  const items = [];
  let cursor;
  do {
    const page = await fetch({ cursor });
    items.push(...page[name]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

// Subscribes, saves the note as an editor does, and gives the URI that is told.
async function saved() {
  const modern = client.getNegotiatedProtocolVersion?.() === "2026-07-28";
  const stream = modern ? await client.listen({ resourceSubscriptions: [task.watch] }) : undefined;
  if (!modern) await client.subscribeResource({ uri: task.watch });
  const told = new Promise((resolve) => (wake = resolve));
  const file = path.join(task.folder, task.watched);
  const beside = path.join(path.dirname(file), ".saving.tmp");
  writeFileSync(beside, "saved by an editor\n");
  renameSync(beside, file);
  await told;
  if (modern) await stream.close();
  else await client.unsubscribeResource({ uri: task.watch });
  return heard[0];
}

// Cancels a call that waits for the lock.
async function cancelled() {
  const holder = spawn(task.holder[0], task.holder.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  const abort = new AbortController();
  let outcome = "waiting";
  const waiting = call("create_note", { title: "Cancelled", content: "never" }, { signal: abort.signal }).then(
    () => (outcome = "answered"),
    () => (outcome = "given up"),
  );
  // Requests are taken in order: when this one is answered, the other is under way.
  await call("read_note", { path: task.note });
  const before = outcome;
  abort.abort();
  await waiting;
  await call("read_note", { path: task.note });
  holder.stdin.end();
  await once(holder, "exit");
  const after = await call("create_note", { title: "After", content: "once the lock is free" });
  return before === "waiting" && outcome === "given up" && !after.isError;
}
