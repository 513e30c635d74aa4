// Keeps the page and the client library, so that the page opens without a network. The library keeps the data.

const CACHE = "larder-demo-1";
const PAGE = ["./", "style.css", "demo.js"];
const isKept = url => url.origin === location.origin
  && (url.pathname.startsWith("/client/") || PAGE.some(name => new URL(name, location.href).pathname === url.pathname));

/** The modules that a module imports, and theirs. */
async function keep(cache, address, seen = new Set()) {
  if (seen.has(address)) return;
  seen.add(address);
  const response = await fetch(address, {cache: "no-cache"});
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  await cache.put(address, response.clone());
  if (!address.endsWith(".js")) return;
  for (const [, name] of (await response.text()).matchAll(/\bfrom "(\.{0,2}\/[^"]+)"/g)) {
    await keep(cache, new URL(name, address).href, seen);
  }
}

addEventListener("install", event => {
  event.waitUntil(caches.open(CACHE).then(async cache => {
    const seen = new Set();
    for (const name of PAGE) await keep(cache, new URL(name, location.href).href, seen);
    await self.skipWaiting();
  }));
});

addEventListener("activate", event => {
  event.waitUntil(caches.keys().then(async names => {
    for (const name of names) {
      if (name.startsWith("larder-demo-") && name !== CACHE) await caches.delete(name);
    }
    await self.clients.claim();
  }));
});

// The network first, so that a new version shows at once; the kept copy without one.
addEventListener("fetch", event => {
  if (event.request.method !== "GET" || !isKept(new URL(event.request.url))) return;
  event.respondWith(fetch(event.request).then(async response => {
    if (response.ok) await (await caches.open(CACHE)).put(event.request.url, response.clone());
    return response;
  }, async error => {
    const kept = await (await caches.open(CACHE)).match(event.request.url);
    if (kept) return kept;
    throw error;
  }));
});
