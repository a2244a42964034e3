// The page over plain http for its tests: its files, and `around.html?LINK`, a page with the link in a frame.
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const kinds = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".png": "image/png" };

/** Serves this folder: the server, its port, and the paths that were asked for. */
export async function serve(pages) {
  const asked = [];
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    asked.push(path);
    if (path === "/around.html") {
      response.writeHead(200, { "content-type": "text/html" });
      const link = decodeURIComponent(new URL(request.url, "http://x").search.slice(1));
      return response.end(`<!doctype html><title>Around</title><button id="before">before</button>
        <iframe width="390" height="600" src="${link}"></iframe><button id="after">after</button>`);
    }
    const file = join(pages, path.endsWith("/") ? path + "index.html" : path);
    const stream = createReadStream(file);
    stream.on("error", () => response.writeHead(404).end());
    stream.on("open", () => {
      response.writeHead(200, { "content-type": kinds[extname(file)] ?? "application/octet-stream" });
      stream.pipe(response);
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { server, asked, port: server.address().port };
}
