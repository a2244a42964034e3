// The page, its one-file form and a figure in Firefox, on a display in memory, over WebDriver BiDi: `web/test` calls it. Where Firefox has
// no WebGL, what runs is the figure that stands in for the page. Names given choose some of the tests.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { program } from "./program.mjs";
import { run } from "./run.mjs";
import { serve } from "./server.mjs";

const { FIREFOX, TARGET, WINDOW } = process.env;
const puppeteer = createRequire(join(TARGET, "tools", "x.js"))("puppeteer-core");
const [pages, screens] = [join(TARGET, "page"), join(TARGET, "page-screens")];
mkdirSync(screens, { recursive: true });
const { server, port } = await serve(pages);
const address = `http://127.0.0.1:${port}/`;
const folder = mkdtempSync(join(tmpdir(), "tapescope-firefox-"));
// The longest that anything may take before it counts as not coming.
const PATIENCE = 120_000;

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath: FIREFOX,
  headless: !WINDOW,
  timeout: PATIENCE,
  protocolTimeout: PATIENCE,
  // No network but this computer: everything else goes to a proxy that is not there.
  extraPrefsFirefox: {
    "webgl.force-enabled": true,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1",
  },
});

/** The page at this address, without a network but for this computer; its problems are collected. */
async function open(at) {
  const page = await browser.newPage();
  page.problems = [];
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!/^(file|data|blob|about):/.test(url) && !url.startsWith(address)) page.problems.push(`request: ${url}`);
  });
  await page.goto(String(at), { waitUntil: "domcontentloaded", timeout: PATIENCE });
  return page;
}

/** The first value of a function in a page or frame that is not empty. */
async function until(page, what, found, ...given) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    // A frame that is just loading has no document.
    const value = await page.evaluate(found, ...given).catch(() => undefined);
    if (value) return value;
    await new Promise((ready) => setTimeout(ready, 50));
  }
  assert.fail(`${what} did not come`);
}

/** The frame inside a page that has this element. */
async function frameWith(page, selector) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    for (const frame of page.frames()) {
      if (await frame.evaluate((selector) => Boolean(document.querySelector(selector)), selector).catch(() => false)) return frame;
    }
    await new Promise((ready) => setTimeout(ready, 50));
  }
  assert.fail(`no frame has ${selector}`);
}

const state = (page, what, step) => until(page, what, (step) => {
  const now = window.tapescope?.state();
  return now?.steps > 0 && now.step === step && { ...now };
}, step);
const clock = (frame, words) => until(frame, words, (words) => document.querySelector("#clock")?.textContent.startsWith(words), words);

/** The page, or the figure in its place, at this step; then one step on. */
async function stepsOn(page, step, steps) {
  if (hasWebGL) {
    await state(page, `step ${step}`, step);
    await page.keyboard.press("ArrowRight");
    const now = await state(page, `step ${step + 1}`, step + 1);
    await until(page, "the step in the address", (step) => location.hash.includes(`step=${step}`), step + 1);
    return now;
  }
  const figure = await frameWith(page, "#picture svg");
  await clock(figure, `step ${step} of ${steps - 1}`);
  await figure.evaluate(() => document.querySelector("#on").click());
  await until(figure, "a frame on", (words) => document.querySelector("#clock").textContent !== words, `step ${step} of ${steps - 1}`);
}

const tests = {
  async opens_a_link_and_steps() {
    const page = await open(`${address}#machine=copy&length=6&seed=7&step=3&head=R0`);
    if (!hasWebGL) {
      // The figure of the machine has an episode of its own.
      const figure = await frameWith(page, "#picture svg");
      const words = await until(figure, "a step", () => document.querySelector("#clock")?.textContent);
      await figure.evaluate(() => document.querySelector("#on").click());
      await until(figure, "a step on", (words) => document.querySelector("#clock").textContent !== words, words);
      return page;
    }
    const now = await stepsOn(page, 3);
    assert.deepEqual([now.machine, now.size, now.seed, now.head], ["copy", 6, 7, "R0"]);
    return page;
  },

  async exchanges_messages_in_a_frame() {
    const link = "/#machine=copy&length=6&seed=7&step=3&embed=1&parts=memory,weightings,player";
    const page = await open("about:blank");
    await page.evaluateOnNewDocument(() => {
      window.news = [];
      addEventListener("message", ({ data }) => window.news.push(data));
    });
    await page.goto(`${address}around.html?${encodeURIComponent(link)}`, { waitUntil: "domcontentloaded", timeout: PATIENCE });
    const told = (what, value) => until(page, `${what} ${value}`, (what, value) => window.news.some((one) => one[what] === value), what, value);
    const send = (data) => page.evaluate((data) => document.querySelector("iframe").contentWindow.postMessage(data, "*"), data);
    await until(page, "news", () => window.news.length > 0);
    if (hasWebGL) await told("parts", "memory,weightings,player");
    await send({ tapescope: 1, step: 5 });
    await told("step", 5);
    if (!hasWebGL) return page;
    await send({ tapescope: 1, parts: "notes" });
    await until(page, "an error", () => window.news.some((one) => one.error?.startsWith("parts=notes; the parts are input")));
    return page;
  },

  async runs_from_one_file() {
    const file = join(folder, "live.html");
    const options = ["--length", "6", "--seed", "7", "--layout", "closeup", "--step", "3", "--live", pages];
    execFileSync(program(TARGET), ["render", "copy", ...options, "--out", file]);
    const page = await open(pathToFileURL(file));
    await stepsOn(page, 3, 13);
    return page;
  },

  async a_figure_steps_and_speaks() {
    const file = join(folder, "figure.html");
    execFileSync(program(TARGET), ["render", "copy", "--length", "6", "--seed", "7", "--layout", "closeup", "--step", "3", "--out", file]);
    const page = await open(pathToFileURL(file));
    await clock(page, "step 3 of 12");
    await page.keyboard.press("Home");
    await clock(page, "step 0 of 12, controller");
    await page.keyboard.press("ArrowRight");
    await clock(page, "step 0 of 12, content");
    await page.keyboard.press("End");
    await clock(page, "step 12 of 12");
    assert.match(await page.evaluate(() => document.querySelector("#words").textContent), /R0/);
    return page;
  },
};

const hasWebGL = await (async () => {
  const page = await open("about:blank");
  const found = await page.evaluate(() => Boolean(document.createElement("canvas").getContext("webgl2")));
  await page.close();
  return found;
})();
console.log(`   ${await browser.version()}, ${hasWebGL ? "with WebGL" : "without WebGL: figures stand in for the page"}`);

const passed = await run(tests, async (page, name) => {
  await page.screenshot({ path: join(screens, `firefox-${name}.png`) });
  assert.deepEqual(page.problems, []);
  await page.close();
});
await browser.close();
server.close();
rmSync(folder, { recursive: true, force: true });
process.exit(passed ? 0 : 1);
