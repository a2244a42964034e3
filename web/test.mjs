// The page in headless Chromium: `web/test` calls it. Every test loads the page anew; names given choose some of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { program } from "./program.mjs";
import { run } from "./run.mjs";
import { serve } from "./server.mjs";

const { CHROMIUM, TARGET } = process.env;
const { chromium } = createRequire(join(TARGET, "tools", "x.js"))("playwright-core");
const pages = join(TARGET, "page");
const screens = join(TARGET, "page-screens");
mkdirSync(screens, { recursive: true });

const { server, asked, port } = await serve(pages);
const address = `http://127.0.0.1:${port}/`;
// The same over plain http by a name of which a browser does not know that it is this computer.
const insecure = `http://example.test:${port}/`;

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
// The longest that anything may take before it counts as not coming: no test depends on how fast it comes.
const PATIENCE = 120_000;

const profile = mkdtempSync(join(tmpdir(), "tapescope-page-"));
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", `--disk-cache-dir=${profile}`,
    "--host-resolver-rules=MAP example.test 127.0.0.1"],
});

// The page at this link, once it shows an episode. What goes wrong in it is kept in `page.wrong`.
async function open(link = "", { size = DESKTOP, theme = "dark", settings = { greeted: "yes" }, touch = false, scale = 1, lacks = false,
  motion = "no-preference", at = address } = {}) {
  const context = await browser.newContext({
    viewport: size, colorScheme: theme, reducedMotion: motion, hasTouch: touch, isMobile: touch, deviceScaleFactor: scale,
    acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"], serviceWorkers: "block",
  });
  const page = await context.newPage();
  page.wrong = [];
  // Of a file that is not there a browser says so by itself.
  page.on("console", (said) => said.type() === "error" && !lacks && page.wrong.push(said.text()));
  page.on("pageerror", (error) => page.wrong.push(String(error)));
  await page.addInitScript((given) => {
    for (const [key, value] of Object.entries(given)) {
      if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
    }
  }, settings);
  page.began = Date.now();
  await page.goto(at + link);
  await until(page, (state) => state.steps > 0 || state.welcome);
  return page;
}

const state = (page) => page.evaluate(() => window.tapescope?.state());

// The state, once it is so.
async function until(page, isSo, what = isSo) {
  const end = Date.now() + PATIENCE;
  let last;
  while (Date.now() < end) {
    assert.deepEqual(page.wrong, [], "the page met an error");
    last = await state(page);
    if (last && isSo(last)) return last;
    await page.waitForTimeout(20);
  }
  assert.fail(`never so: ${what}\n${JSON.stringify(last)}`);
}

async function close(page) {
  assert.deepEqual(page.wrong, [], "the page met an error");
  await page.context().close();
}

// From now on: the longest that the page was busy with one thing, in ms.
async function tasks(page) {
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
    }).observe({ type: "longtask" });
  });
  return () => page.evaluate(() => Math.round(window.longest));
}

// What was asked for has been drawn, and has come to rest.
const rest = (page) => page.evaluate(async () => {
  for (let frame = 0; frame < 12; frame += 1) await new Promise(requestAnimationFrame);
});

// A finger goes down, along these points, and up once `isSo`.
async function swipe(page, [first, ...others], isSo = () => true) {
  const devtools = await page.context().newCDPSession(page);
  const touch = (type, points) => devtools.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  await touch("touchStart", [first]);
  let [x, y] = first;
  for (const [toX, toY] of others) {
    for (let part = 1; part <= 8; part += 1) await touch("touchMove", [[x + (toX - x) * part / 8, y + (toY - y) * part / 8]]);
    [x, y] = [toX, toY];
  }
  await rest(page);
  await until(page, isSo);
  await touch("touchEnd", []);
}

// Accepts what the dialog suggests, once it has been drawn and hears keys.
async function accept(page) {
  await until(page, (now) => now.dialog === "file");
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.keyboard.press("Enter");
  await until(page, (now) => !now.dialog);
}

// Does a command by its name, as whoever types it.
async function command(page, name) {
  await page.keyboard.press("Control+k");
  await until(page, (now) => now.dialog === "commands");
  await page.keyboard.type(name);
  // The list follows a frame later.
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  await until(page, (now) => now.dialog !== "commands");
}

// Before a page: a browser that has no WebGL.
function noWebGL() {
  const own = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind.startsWith("webgl") ? null : own.call(this, kind, ...rest);
  };
}

const tests = {
  async "loads, plays, steps"() {
    const page = await open();
    console.log(`   first episode after ${Date.now() - page.began} ms`);
    const first = await state(page);
    assert.equal(first.machine, "copy");
    assert.ok(first.playing);
    await until(page, (now) => now.step > first.step + 2);
    await page.keyboard.press("Space");
    const { step } = await until(page, (now) => !now.playing);
    await page.keyboard.press("ArrowRight");
    await until(page, (now) => now.step === step + 1);
    await page.keyboard.press("Shift+ArrowLeft");
    await until(page, (now) => now.step === Math.max(step - 9, 0));
    await page.keyboard.press("End");
    await until(page, (now) => now.step === now.steps - 1);
    await page.keyboard.press("v");
    await until(page, (now) => now.layout !== first.layout);
    await close(page);
  },

  async "looks as it should"() {
    for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE]]) {
      for (const theme of ["dark", "light"]) {
        const page = await open("", { size, theme, touch: name === "phone" });
        await page.keyboard.press("Space");
        await until(page, (now) => !now.playing && now.dark === (theme === "dark"));
        await page.waitForTimeout(500);
        await page.screenshot({ path: join(screens, `${name}-${theme}.png`) });
        await close(page);
      }
    }
  },

  async "is used by finger on a phone"() {
    for (const scale of [3, 2]) {
      const page = await open("#machine=copy&length=20&seed=7&step=21&head=R0", { size: PHONE, touch: true, scale });
      const tap = (x, y) => page.touchscreen.tap(x, y);
      const first = await state(page);
      assert.deepEqual([first.step, first.head, first.playing, first.layout], [21, "R0", false, "close-up"]);
      await rest(page);
      const pixels = await page.evaluate(() => [document.querySelector("canvas").width, document.querySelector("canvas").height]);
      assert.deepEqual(pixels, [PHONE.width * scale, PHONE.height * scale]);
      const picture = await page.screenshot({ path: join(screens, `phone-x${scale}.png`) });
      assert.ok(picture.length > 40_000, "it draws at this density");
      if (scale === 3) {
        await close(page);
        continue;
      }
      // Along the strip of time; then across it, which is no way to move in time; then a step on by its button.
      await swipe(page, [[60, 707], [200, 705], [300, 709]], (now) => now.step >= 30 && now.step <= 33);
      const { step } = await state(page);
      await swipe(page, [[150, 707], [154, 450]]);
      await tap(165, 818);
      await until(page, (now) => now.step === step + 1);
      // The next seed, by its button in the sheet of the episode.
      await tap(312, 22);
      await until(page, (now) => now.dialog === "episode");
      await rest(page);
      await page.screenshot({ path: join(screens, `phone-episode-x${scale}.png`) });
      await tap(195, 726);
      await until(page, (now) => now.seed === 8);
      await tap(195, 100);
      await until(page, (now) => !now.dialog);
      // The start page, from the list of all else, and back.
      await tap(356, 22);
      await until(page, (now) => now.dialog === "more");
      await rest(page);
      await page.screenshot({ path: join(screens, `phone-more-x${scale}.png`) });
      await tap(100, 133);
      await until(page, (now) => now.welcome && !now.dialog);
      await rest(page);
      await swipe(page, [[195, 700], [195, 300]]);
      await page.screenshot({ path: join(screens, `phone-start-x${scale}.png`) });
      assert.ok((await state(page)).welcome, "a swipe opens no card");
      await tap(34, 22);
      await until(page, (now) => !now.welcome);
      // One learns, in a column, and waits.
      await tap(356, 22);
      await until(page, (now) => now.dialog === "more");
      await rest(page);
      await tap(100, 237);
      await until(page, (now) => now.learning?.goes && now.layout === "train" && now.learning.sequences > 0);
      await rest(page);
      await page.screenshot({ path: join(screens, `phone-learning-x${scale}.png`) });
      await tap(99, 700);
      await until(page, (now) => !now.learning.goes);
      await close(page);
    }
  },

  async "fetches a machine when it is asked for"() {
    const before = asked.length;
    const page = await open("#machine=repeat_copy&length=5&repeats=3&step=6&head=R0");
    const now = await until(page, (now) => now.machine === "repeat_copy");
    assert.deepEqual([now.size, now.repeats, now.step, now.head, now.playing], [5, 3, 6, "R0", false]);
    const machines = new Set(asked.slice(before).filter((path) => path.startsWith("/machines/")));
    assert.ok(!machines.has("/machines/priority_sort.safetensors"), "nobody asked for it");
    await close(page);
  },

  async "restores what a link was copied from"() {
    const link = "#machine=copy&length=20&seed=7&rows=64&flip=3.1&step=21&stage=2&head=R0&layout=debug";
    const page = await open(link);
    const now = await until(page, (now) => now.step === 21);
    assert.deepEqual([now.size, now.seed, now.rows, now.stage, now.head, now.layout], [20, 7, 64, 2, "R0", "debug"]);
    await command(page, "Copy link");
    await until(page, (now) => now.message?.includes("copied"));
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, address + link);
    await close(page);
  },

  async "shows a link that it cannot copy"() {
    const link = "#machine=copy&length=20&seed=7&step=21&head=R0&layout=debug";
    const byHand = "document.getElementById('by-hand')";
    for (const [at, refuses] of [[insecure, false], [address, true]]) {
      const page = await open(link, { at });
      if (refuses) await page.evaluate(() => { navigator.clipboard.writeText = async () => { throw new Error("denied"); }; });
      assert.equal(await page.evaluate(() => isSecureContext), refuses);
      await command(page, "Copy link");
      await page.waitForFunction(`${byHand}?.open`, null, { timeout: PATIENCE });
      assert.equal(await page.evaluate(`${byHand}.querySelector("textarea").value`), at + link);
      assert.equal(await page.evaluate(() => getSelection().toString()), at + link, "it is selected");
      assert.ok(!(await state(page)).message?.includes("copied"), "nothing is copied");
      // Keys belong to the field, then to the page again.
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Escape");
      await page.waitForFunction(`!${byHand}.open`, null, { timeout: PATIENCE });
      await rest(page);
      assert.equal((await state(page)).step, 21);
      await page.keyboard.press("ArrowRight");
      await until(page, (now) => now.step === 22);
      await close(page);
    }
  },

  async "keeps the step in its address"() {
    const page = await open("#machine=copy&length=20&seed=7&step=21&head=R0&layout=debug");
    const entries = await page.evaluate(() => history.length);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/step=22&head=R0/, { timeout: PATIENCE });
    await page.keyboard.press("Space");
    await until(page, (now) => now.step > 24);
    await page.keyboard.press("Shift+r");
    await page.waitForURL(/seed=8&/, { timeout: PATIENCE });
    await page.keyboard.press("End");
    await page.waitForURL(/seed=8&step=40/, { timeout: PATIENCE });
    assert.equal(await page.evaluate(() => history.length), entries, "Back leaves the page");
    await page.reload();
    await until(page, (now) => now.seed === 8 && now.step === 40);
    await close(page);
  },

  async "tells a screen reader what it shows"() {
    const page = await open("#machine=copy&length=20&seed=7&step=21");
    const told = (step) => page.waitForFunction((step) => {
      const { status, title } = window.tapescope.state();
      return status?.startsWith(`step ${step} `) && document.getElementById("status").textContent === status
        && document.title === title;
    }, step, { timeout: PATIENCE });
    await told(21);
    assert.match(await page.title(), /^.*copy.* – Tapescope$/i);
    await page.getByRole("application", { name: await page.title() }).waitFor({ timeout: PATIENCE });
    await page.keyboard.press("ArrowRight");
    await told(22);
    const described = await page.evaluate(() => document.querySelector("canvas").getAttribute("aria-describedby"));
    assert.equal(await page.locator(`#${described}`).getAttribute("role"), "status");
    await command(page, "Copy link");
    await page.getByRole("status").filter({ hasText: "copied" }).waitFor({ state: "attached", timeout: PATIENCE });
    await close(page);
  },

  async "leaves the keyboard to the page around it"() {
    const context = await browser.newContext({ viewport: { width: 600, height: 700 } });
    const page = await context.newPage();
    await page.goto(`${address}around.html?${encodeURIComponent("/#machine=copy&length=20&seed=7&step=21")}`);
    const frame = page.frames()[1];
    const step = () => frame.evaluate(() => window.tapescope?.state()?.step);
    while (await step() !== 21) await page.waitForTimeout(20);
    const active = () => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
    assert.equal(await active(), "BODY", "nobody clicked");
    await page.keyboard.press("ArrowRight");
    await rest(frame);
    assert.equal(await step(), 21, "the key is that of the page around");
    await page.mouse.click(250, 300);
    assert.equal(await active(), "IFRAME");
    await page.keyboard.press("ArrowRight");
    while (await step() !== 22) await page.waitForTimeout(20);
    // Through all of it, out at its end, in again, and out at its beginning.
    for (const [key, to] of [["Tab", "after"], ["Shift+Tab", "IFRAME"], ["Tab", "IFRAME"], ["Shift+Tab", "before"]]) {
      let presses = 0;
      do {
        await page.keyboard.press(key);
        await frame.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        presses += 1;
        assert.ok(presses < 200, `${key} does not lead to ${to}`);
      } while (await active() !== to);
      console.log(`   ${key}: ${to} after ${presses}`);
    }
    await context.close();
  },

  async "is embedded: pictures and player alone, keys and messages in both directions"() {
    const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      window.news = [];
      addEventListener("message", ({ data }) => window.news.push(data));
    });
    await page.goto(`${address}around.html?${encodeURIComponent("/#machine=copy&length=3&seed=7&step=5&embed=1")}`);
    const frame = page.frames()[1];
    const shown = () => frame.evaluate(() => window.tapescope?.state());
    while ((await shown())?.step !== 5) await page.waitForTimeout(20);
    assert.equal((await shown()).embedded, true);
    const told = (key, value) => page.waitForFunction(([key, value]) => window.news.some((one) => one.tapescope === 1 && one[key] === value),
      [key, value], { timeout: PATIENCE });
    await told("step", 5);
    await told("steps", 7);
    const send = (data) => page.evaluate((data) => document.querySelector("iframe").contentWindow.postMessage(data, "*"), data);
    await send({ tapescope: 1, step: 6, head: "R0" });
    await told("step", 6);
    await told("head", "R0");
    await send({ tapescope: 2, step: 0 });
    await send("step 0");
    await page.mouse.click(250, 300);
    await page.keyboard.press("ArrowRight");
    await told("key", "ArrowRight");
    await page.keyboard.press("Escape");
    await told("key", "Escape");
    assert.equal((await shown()).step, 6);
    await context.close();
  },

  async "is embedded with chosen parts by their names"() {
    const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      window.news = [];
      addEventListener("message", ({ data }) => window.news.push(data));
    });
    const link = "/#machine=copy&length=3&seed=7&step=5&embed=1&parts=memory,weightings,player";
    await page.goto(`${address}around.html?${encodeURIComponent(link)}`);
    const told = (key, value) => page.waitForFunction(([key, value]) => window.news.some((one) => one[key]?.startsWith?.(value)),
      [key, value], { timeout: PATIENCE });
    const send = (data) => page.evaluate((data) => document.querySelector("iframe").contentWindow.postMessage(data, "*"), data);
    await told("parts", "memory,weightings,player");
    await told("link", `${address}#machine=copy&length=3&seed=7&step=5`);
    const shown = () => page.frames()[1].evaluate(() => window.tapescope.state());
    assert.equal((await shown()).layout, "parts");
    for (const theme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme: theme });
      await rest(page.frames()[1]);
      await page.screenshot({ path: join(screens, `parts-${theme}.png`) });
    }
    await send({ tapescope: 1, parts: "input,output" });
    await told("parts", "input,output");
    await send({ tapescope: 1, parts: "input,notes" });
    await told("error", "parts=notes; the parts are input, target, output,");
    // A machine without pictures of this kind.
    await send({ tapescope: 1, parts: "patches" });
    await told("error", "parts=patches; the parts are input, target, output,");
    assert.equal((await shown()).parts, "input,output");
    await send({ tapescope: 1, parts: "" });
    await page.waitForFunction(() => window.news.at(-1).parts === "", null, { timeout: PATIENCE });
    assert.notEqual((await shown()).layout, "parts");
    await context.close();
  },

  async "runs from one file without a network"() {
    const folder = mkdtempSync(join(tmpdir(), "tapescope-live-"));
    const file = join(folder, "copy.html");
    const options = ["--length", "6", "--seed", "7", "--layout", "closeup", "--step", "3", "--head", "R0", "--live", pages];
    console.log(`   ${execFileSync(program(TARGET), ["render", "copy", ...options, "--out", file], { encoding: "utf8" }).trim()}`);
    const inFile = async (lacks) => {
      const context = await browser.newContext({ viewport: DESKTOP, offline: true });
      const page = await context.newPage();
      page.wrong = [];
      page.on("console", (said) => said.type() === "error" && page.wrong.push(said.text()));
      page.on("pageerror", (error) => page.wrong.push(String(error)));
      page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || page.wrong.push(request.url()));
      await page.addInitScript(lacks);
      return page;
    };
    const page = await inFile(() => {});
    for (const [place, step] of [["", 3], ["#step=5", 5]]) {
      await page.goto("about:blank");
      await page.goto(pathToFileURL(file) + place);
      const now = await until(page, (now) => now.steps > 0);
      const found = [now.machine, now.size, now.seed, now.step, now.head, now.layout, now.playing];
      assert.deepEqual(found, ["copy", 6, 7, step, "R0", "close-up", false]);
      await page.keyboard.press("ArrowRight");
      await until(page, (now) => now.step === step + 1);
    }
    for (const theme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme: theme });
      await rest(page);
      await page.screenshot({ path: join(screens, `live-${theme}.png`) });
    }
    await close(page);
    // Without WebGL, and without WebAssembly, its figure stays.
    const lacks = [noWebGL, () => { delete globalThis.WebAssembly; }];
    for (const lack of lacks) {
      const page = await inFile(lack);
      await page.goto(`${pathToFileURL(file)}#step=5`);
      const figure = page.frameLocator("#still");
      const clock = (text) => figure.locator("#clock").filter({ hasText: text }).waitFor({ timeout: PATIENCE });
      await clock(/^step 5 of 12/);
      await figure.getByRole("button", { name: "Step on" }).click();
      await clock(/^step 6 of 12/);
      await close(page);
    }
    // Weights of one's own, and a recorded trace.
    const [weights, trace] = [join(folder, "own.safetensors"), join(folder, "own.ntmtrace.json")];
    copyFileSync(join(pages, "machines", "copy.safetensors"), weights);
    execFileSync(program(TARGET), ["trace", "copy", "--length", "4", "--seed", "4", "--out", trace]);
    for (const [source, size, ...options] of [[weights, 4, "--length", "4", "--seed", "4"], [trace, 0]]) {
      execFileSync(program(TARGET), ["render", source, ...options, "--step", "2", "--layout", "input,output", "--live", pages, "--out", file]);
      const page = await inFile(() => {});
      await page.goto(pathToFileURL(file).href);
      const now = await until(page, (now) => now.steps > 0);
      assert.deepEqual([now.steps, now.step, now.parts], [9, 2, "input,output,player"]);
      assert.ok(!size || now.size === size);
      await close(page);
    }
    rmSync(folder, { recursive: true });
  },

  async "moves less where the system asks for it"() {
    const page = await open("", { motion: "reduce" });
    assert.ok(!(await state(page)).playing);
    // A choice of one's own goes before the system, and stays.
    await command(page, "Toggle reduced motion");
    await page.goto(`${address}?`);
    await until(page, (now) => now.playing);
    await close(page);
  },

  async "has the keyboard in a small window"() {
    const page = await open("#machine=copy&length=20&seed=7&step=21", { size: PHONE });
    await command(page, "Change theme");
    await until(page, (now) => !now.dark);
    await close(page);
  },

  async "says what is wrong with a link"() {
    for (const [link, words] of [
      ["#machine=copy&length=20&seed=7&step=99", "Invalid link: step=99; the episode has steps 0 to 40."],
      ["#machine=copy&head=", "Invalid link: head=; the heads are R0, W0."],
      ["#machine=copy&rows=0", "Invalid link: rows=0; the machine copy allows "],
      ["#machine=copy&rows=99999999", "Invalid link: rows=99999999; the machine copy allows "],
      ["?trace=", "Invalid link: ?trace= without a file; "],
      ["?trace=missing.json", "missing.json cannot be fetched: the server returned 404."],
    ]) {
      const page = await open(link, { lacks: link.includes("missing") });
      const { message } = await until(page, (now) => now.message);
      assert.ok(message.startsWith(words) && message.endsWith(".") && !message.endsWith(".."), `${link}: ${message}`);
      await close(page);
    }
  },

  async "opens and saves a trace byte for byte"() {
    const name = "native.ntmtrace.json";
    const folder = mkdtempSync(join(tmpdir(), "tapescope-trace-"));
    execFileSync(program(TARGET), ["trace", "copy", "--length", "5", "--seed", "4", "--out", join(folder, name)]);
    copyFileSync(join(folder, name), join(pages, name));
    const page = await open(`?trace=${name}#step=3`);
    assert.equal((await state(page)).step, 3);
    await page.keyboard.press("ArrowRight");
    await command(page, "Copy link");
    await until(page, (now) => now.message?.includes("copied"));
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.startsWith(`${address}?trace=${name}#step=4`), copied);
    const again = await open(copied.slice(address.length));
    assert.deepEqual([(await state(again)).step, (await state(again)).title], [4, (await state(page)).title]);
    await close(again);
    const saved = page.waitForEvent("download", { timeout: PATIENCE });
    await page.keyboard.press("Control+s");
    await accept(page);
    const file = await (await saved).path();
    assert.ok(readFileSync(file).equals(readFileSync(join(folder, name))), "the bytes differ");
    // The same file by the button, and by its keys.
    await until(page, (now) => !now.dialog && now.message?.includes("is downloaded"));
    const asks = page.waitForEvent("filechooser", { timeout: PATIENCE });
    await page.keyboard.press("Control+o");
    await (await asks).setFiles(join(folder, name));
    await until(page, (now) => now.message?.startsWith("Opened "));
    // And dropped, under another name.
    await page.evaluate(async (name) => {
      const dropped = new DataTransfer();
      dropped.items.add(new File([await (await fetch(name)).blob()], "dropped.ntmtrace.json"));
      document.querySelector("canvas").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
    }, name);
    await until(page, (now) => now.title.startsWith("dropped.ntmtrace.json"));
    rmSync(join(pages, name));
    rmSync(folder, { recursive: true });
    await close(page);
  },

  async "hands figures over as downloads"() {
    const page = await open("#machine=copy&length=3&seed=7&step=2");
    for (const [keys, begins] of [["Control+Shift+e", "\x89PNG"], ["Control+Alt+e", "<svg"]]) {
      const saved = page.waitForEvent("download", { timeout: PATIENCE });
      await page.keyboard.press(keys);
      await accept(page);
      const bytes = readFileSync(await (await saved).path());
      assert.ok(bytes.subarray(0, 200).toString("latin1").includes(begins), `${keys}: ${bytes.subarray(0, 20)}`);
    }
    await close(page);
  },

  async "makes an animation, and answers meanwhile"() {
    const page = await open("#machine=copy&length=20&seed=7&step=21");
    const longest = await tasks(page);
    const begun = Date.now();
    let isThere = false;
    const saved = page.waitForEvent("download", { timeout: PATIENCE }).then((download) => {
      isThere = true;
      return download;
    });
    await page.keyboard.press("m");
    await accept(page);
    for (let step = 22; step < 26; step += 1) {
      await page.keyboard.press("ArrowRight");
      await until(page, (now) => now.step === step);
    }
    assert.ok(!isThere, "steps are taken while it is made");
    const bytes = readFileSync(await (await saved).path());
    assert.equal(bytes.subarray(0, 6).toString("latin1"), "GIF89a");
    console.log(`   ${(bytes.length / 1e6).toFixed(1)} MB after ${((Date.now() - begun) / 1000).toFixed(1)} s; ` +
      `longest task ${await longest()} ms`);
    // Another one is given up: nothing comes of it.
    await until(page, (now) => now.message?.includes("is downloaded"));
    page.on("download", () => page.wrong.push("a download that was given up"));
    await page.keyboard.press("m");
    await accept(page);
    await until(page, (now) => now.busy);
    assert.ok(await page.evaluate(() => window.tapescope.would_lose()), "a file is being made");
    await page.keyboard.press("Control+.");
    await until(page, (now) => now.message?.endsWith("cancelled.") && !now.busy);
    assert.ok(!await page.evaluate(() => window.tapescope.would_lose()), "none is any more");
    await close(page);
  },

  async "records a long episode, and answers meanwhile"() {
    const page = await open("#machine=copy&length=400&rows=2048&seed=7&step=3");
    await until(page, (now) => now.rows === 2048 && now.steps === 801 && !now.busy);
    const longest = await tasks(page);
    const begun = Date.now();
    await page.keyboard.press("Shift+r");
    await until(page, (now) => now.seed === 8 && !now.busy);
    console.log(`   801 steps of 2048 rows in ${((Date.now() - begun) / 1000).toFixed(1)} s; longest task ${await longest()} ms`);
    await close(page);
  },

  async "fills its start page"() {
    asked.length = 0;
    const page = await open();
    const longest = await tasks(page);
    const machines = readdirSync(join(pages, "machines")).map((name) => `/machines/${name}`);
    assert.deepEqual(asked.filter((path) => path.startsWith("/machines/")), ["/machines/copy.safetensors"]);
    await page.keyboard.press("w");
    // Beside the machines the one that is not trained, four that fail, and the step in the picture of the loop.
    await until(page, (now) => now.welcome && now.pictures === machines.length + 6);
    const fetched = asked.filter((path) => path.startsWith("/machines/"));
    assert.deepEqual(fetched.sort(), machines.sort(), "each of them once");
    console.log(`   longest task ${await longest()} ms`);
    await page.screenshot({ path: join(screens, "start.png") });
    await close(page);
  },

  async "learns, and answers meanwhile"() {
    const page = await open();
    await page.keyboard.press("t");
    await until(page, (now) => now.learning?.goes);
    const longest = await tasks(page);
    const { learning } = await until(page, (now) => now.learning.bits !== undefined && now.learning.bits < 1);
    console.log(`   below 1 bit after ${((Date.now() - page.began) / 1000).toFixed(1)} s, ${learning.sequences} sequences, ` +
      `${learning.rate?.toFixed(0)} a second; longest task ${await longest()} ms`);
    await page.screenshot({ path: join(screens, "learning.png") });
    await page.keyboard.press("t");
    await until(page, (now) => !now.learning.goes);
    await close(page);
  },

  async "asks before what has learned is lost, and hands it over"() {
    const page = await open();
    const loses = () => page.evaluate(() => window.tapescope.would_lose());
    assert.ok(!await loses(), "nothing has learned");
    await page.keyboard.press("t");
    while (!await loses()) await until(page, (now) => now.learning?.goes);
    const question = page.waitForEvent("dialog", { timeout: PATIENCE });
    await page.close({ runBeforeUnload: true });
    assert.equal((await question).type(), "beforeunload");
    await (await question).dismiss();
    await page.keyboard.press("t");
    await until(page, (now) => now.learning && !now.learning.goes);
    const saved = page.waitForEvent("download", { timeout: PATIENCE });
    await command(page, "Save run");
    await accept(page);
    const bytes = readFileSync(await (await saved).path());
    const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())));
    assert.ok(header.__metadata__, "weights, with how they came about");
    assert.equal((await saved).suggestedFilename(), "copy-1.safetensors");
    await until(page, (now) => !now.dialog && now.message?.includes("is downloaded"));
    assert.ok(!await loses(), "it is saved");
    await page.reload();
    await until(page, (now) => now.steps > 0 && !now.learning);
    await close(page);
  },

  async "remembers its settings"() {
    const page = await open();
    assert.ok((await state(page)).dark, "as the system");
    await command(page, "Change theme");
    await until(page, (now) => !now.dark);
    await page.reload();
    await until(page, (now) => !now.dark);
    await close(page);
  },

  async "leaves the browser its keys"() {
    const page = await open();
    const kept = (key, ...held) => page.evaluate(([key, held]) => window.tapescope.keeps(key, ...held), [key, held]);
    const browsers = ["t", "n", "w", "l", "r", "+", "-", "0", "d", "c", "p", "e", "F5"];
    for (const key of browsers) assert.equal(await kept(key, true, false, false), false, key);
    for (const key of ["s", "o", "k", "z"]) assert.equal(await kept(key, true, false, false), true, key);
    const { step } = await state(page);
    const prevented = await page.evaluate(() => ["ArrowRight", "ArrowLeft", "d", "Home"].filter((key) => {
      const pressed = new KeyboardEvent("keydown", { key, code: key, altKey: true, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(pressed);
      return pressed.defaultPrevented;
    }));
    assert.deepEqual(prevented, [], "back, forward, the address and the home of the browser");
    const prints = await page.evaluate(() => {
      const pressed = new KeyboardEvent("keydown", { key: "p", code: "KeyP", ctrlKey: true, bubbles: true, cancelable: true });
      document.activeElement.dispatchEvent(pressed);
      return !pressed.defaultPrevented;
    });
    // What a key does is there a frame later.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.ok(prints && !(await state(page)).dialog, "Ctrl+P prints");
    assert.equal((await state(page)).step, step);
    await close(page);
  },

  async "works without a network from the second visit on, and offers another version"() {
    const context = await browser.newContext({ viewport: DESKTOP, colorScheme: "dark" });
    const page = await context.newPage();
    const shows = (machine) => page.waitForFunction((machine) => {
      const state = window.tapescope?.state();
      return state?.machine === machine && state.steps > 0;
    }, machine, { timeout: PATIENCE });
    await page.goto(`${address}#machine=copy&step=1`);
    await shows("copy");
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(() => navigator.serviceWorker.controller, null, { timeout: PATIENCE });
    // Opened once more, now through the worker: it keeps the machine.
    await page.reload();
    await shows("copy");
    await context.setOffline(true);
    await page.goto(`${address}?again#machine=copy&step=2`);
    await shows("copy");
    await context.setOffline(false);
    const path = join(pages, "worker.js");
    const worker = readFileSync(path, "utf8");
    try {
      writeFileSync(path, worker.replace(/tapescope-[0-9a-f]+/, "tapescope-other"));
      await page.reload();
      await page.getByRole("button", { name: "Reload" }).click({ timeout: PATIENCE });
      await page.waitForFunction(async () => (await caches.keys()).join() === "tapescope-other", null, { timeout: PATIENCE });
      await shows("copy");
    } finally {
      writeFileSync(path, worker);
    }
    await context.close();
  },

  async "shows the figure of a machine where WebGL is missing"() {
    const context = await browser.newContext({ viewport: DESKTOP });
    const page = await context.newPage();
    await page.addInitScript(noWebGL);
    await page.goto(`${address}#machine=associative_recall`);
    const figure = page.frameLocator("#still");
    await figure.getByRole("slider", { name: "Step" }).waitFor({ timeout: PATIENCE });
    await figure.getByRole("button", { name: "Step on" }).click();
    assert.match(await figure.locator("#clock").textContent(), /^step 0 of /);
    await page.goto(`${address}?other#machine=none`);
    await page.getByRole("alert").filter({ hasText: "WebGL" }).waitFor({ timeout: PATIENCE });
    await context.close();
  },
};

const passed = await run(tests);
await browser.close();
server.close();
rmSync(profile, { recursive: true, force: true });
process.exit(passed ? 0 : 1);
