// Keeps the page for when there is no network: the program from the first visit on, a machine once it was opened.
// `web/build` fills in the version, which is new where any file or machine is, and the files of the program.
const KEPT = "tapescope-{version}";
const PROGRAM = [{files}];

// All of one version: what the browser kept by itself may be older.
const fresh = PROGRAM.map((file) => new Request(file, { cache: "no-cache" }));
addEventListener("install", (event) => event.waitUntil(caches.open(KEPT).then((kept) => kept.addAll(fresh))));

addEventListener("activate", (event) => event.waitUntil((async () => {
  const old = (await caches.keys()).filter((name) => name.startsWith("tapescope-") && name !== KEPT);
  await Promise.all(old.map((name) => caches.delete(name)));
  await clients.claim();
})()));

// The page asks for it when the user does.
addEventListener("message", ({ data }) => data === "replace" && skipWaiting());

async function answer(request) {
  const kept = await caches.open(KEPT);
  const known = await kept.match(request, { ignoreSearch: request.mode === "navigate" });
  if (known) return known;
  const response = await fetch(request);
  const isMachine = new URL(request.url).pathname.startsWith(new URL("machines/", registration.scope).pathname);
  // Where there is no room the machine is there this time only.
  if (response.ok && isMachine) await kept.put(request, response.clone()).catch(() => {});
  return response;
}

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(registration.scope)) event.respondWith(answer(event.request));
});
