// Supabase's REST interface over a PostgreSQL, for tests. In: node supabase_lite.mjs <node_modules>, and on stdin one
// line of JSON {databases: "postgresql://…/", publishable_key, secret_key}. Out: the port, one line on stdout.
// The first segment of a path names the database; DELETE /<database> lets go of it. Ends when stdin ends.
import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const load = (path) => import(pathToFileURL(join(modules, path)).href);
const { App } = await load("@supabase/lite/dist/index.js");
const { createPostgresConnection } = await load("@supabase/lite/dist/db/postgres/PostgresConnection.js");
const { serve } = await load("@hono/node-server/dist/index.mjs");

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const settings = JSON.parse((await lines.next()).value);
const apps = new Map();
const refusal = new AsyncLocalStorage();

async function open(database) {
  const connection = createPostgresConnection({ url: settings.databases + database });
  // PostgREST writes moments as PostgreSQL's JSON has them (2026-11-23T09:09:50+00:00); lite passes on its text (…+00).
  connection.driver.options.parsers[1184] = (text) => text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
  const normalize = connection.normalizeDbError.bind(connection);
  connection.normalizeDbError = (error) => {
    const seen = normalize(error);
    if (refusal.getStore() && typeof seen?.code === "string") refusal.getStore().error = seen;
    return seen;
  };
  const auth = { enabled: true, publishable_key: settings.publishable_key, secret_key: settings.secret_key };
  const app = new App({ connection, auth, options: { server: { admin: false } } });
  // The first request prepares the database; two at once would stand in each other's way.
  await app.fetch(new Request("http://127.0.0.1/rest/v1/bases", { headers: { apikey: settings.secret_key } }));
  return { connection, app };
}

// PostgREST passes on every SQLSTATE, 400 unless it knows better, and says PGRST000 when it cannot connect
// (docs.postgrest.org, Errors); lite hides those that it does not know behind a code of its own.
async function ask(app, request) {
  const seen = {};
  const response = await refusal.run(seen, () => app.fetch(request, { peerAddress: "127.0.0.1" }));
  if (response.status !== 500 || !seen.error) return response;
  const { code, message, detail = null, hint = null } = seen.error;
  if (!/^[0-9A-Z]{5}$/.test(code)) return Response.json({ code: "PGRST000", message }, { status: 503 });
  return Response.json({ code, message, details: detail, hint }, { status: 400 });
}

async function close(database) {
  const opened = await apps.get(database);
  apps.delete(database);
  await opened?.connection.driver.end({ timeout: 0 });  // whatever is still being asked
  return new Response(null, { status: 204 });
}

async function answer(request) {
  const url = new URL(request.url);
  const [, database, ...rest] = url.pathname.split("/");
  if (request.method === "DELETE" && rest.length === 0) return close(database);
  if (!apps.has(database)) apps.set(database, open(database));
  const { app } = await apps.get(database);
  url.pathname = "/" + rest.join("/");
  return ask(app, new Request(url, request));
}

serve({ fetch: answer, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(port));
await lines.next();
process.exit(0);
