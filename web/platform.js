// Browser functions that the program calls; src/platform/web.rs is the other side.

// Not setTimeout, which waits at least four milliseconds.
const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

export function soon(run) {
  waiting.push(run);
  channel.port2.postMessage(null);
}

export function repeat(turn) {
  const go = () => {
    const rest = turn();
    if (rest < 0) return;
    if (rest > 0) setTimeout(go, rest);
    else soon(go);
  };
  soon(go);
}

export function download(name, bytes) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// True once the text is in the clipboard. Where the browser does not allow that, as over plain http or in a frame without
// permission, the page shows the text in a field.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const dialog = document.getElementById("by-hand");
    const field = dialog.querySelector("textarea");
    field.value = text;
    if (!dialog.open) dialog.showModal();
    field.select();
    return false;
  }
}

export function reducesMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function here() {
  return location.href.replace(/[?#].*/, "");
}

export function pick() {
  return new Promise((answer) => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".json,.gz,.npz,.npy,.txt,.align,.safetensors";
    input.addEventListener("cancel", () => answer(undefined));
    input.addEventListener("change", async () => {
      const file = input.files[0];
      answer(file && [file.name, new Uint8Array(await file.arrayBuffer())]);
    });
    input.click();
  });
}

export async function load(address) {
  // A page in one file has all that it can open in itself.
  if (globalThis.ownFile) {
    const file = globalThis.ownFile(address);
    return file ? new Uint8Array(await new Response(file).arrayBuffer()) : `${address} is not in this file.`;
  }
  try {
    if (new URL(address, location.href).origin !== location.origin) return `${address} is on another site; only files of this site can be opened by a link.`;
    const response = await fetch(address);
    if (!response.ok) return `${address} cannot be fetched: the server returned ${response.status}.`;
    return new Uint8Array(await response.arrayBuffer());
  } catch {
    return `${address} cannot be fetched: there is no connection to the server.`;
  }
}
