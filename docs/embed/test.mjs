// The examples of this folder and the lecture in headless Chromium: `docs/embed/test` calls it. Every page is opened from
// a file, and a request to a network or an error in the console fails its test. Names given choose some of the tests.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "../../web/run.mjs";

const { CHROMIUM, TARGET } = process.env;
const { chromium } = createRequire(join(TARGET, "tools", "x.js"))("playwright-core");
const screens = join(TARGET, "lecture-screens");
mkdirSync(screens, { recursive: true });

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

/** Opens a file below the target folder; the problems of the page are collected. */
async function open(path, query = "") {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.problems = [];
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|data|blob|about):/.test(request.url())) page.problems.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(TARGET, path)) + query);
  return page;
}

async function until(what, condition) {
  const end = Date.now() + 120_000;
  let last;
  while (Date.now() < end) {
    try {
      if (await condition()) return;
    } catch (error) {
      last = error;
    }
    await new Promise((ready) => setTimeout(ready, 50));
  }
  assert.fail(`${what} did not happen${last ? `: ${last}` : ""}`);
}

/** The document of a frame, when its figure runs. */
async function figure(page, selector) {
  let found;
  await until(`the figure ${selector}`, async () => {
    found = await (await page.waitForSelector(selector, { state: "attached" })).contentFrame();
    return /^step \d+/.test(await found.locator("#clock").textContent());
  });
  return found;
}

const clock = (frame) => frame.locator("#clock").textContent();
const slide = (page) => page.evaluate(() => Reveal.getIndices().h);
const ARROWS = ["ArrowRight", "ArrowLeft"];

const tests = {
  async keys_of_a_deck_work_before_and_after_a_click_into_the_figure() {
    const page = await open("embed/reveal.html");
    await until("the deck", () => page.evaluate(() => Reveal.isReady()));
    await page.keyboard.press(ARROWS[0]);
    assert.equal(await slide(page), 1);
    await page.keyboard.press(ARROWS[0]);
    assert.equal(await slide(page), 2);
    await page.keyboard.press(ARROWS[1]);
    assert.equal(await slide(page), 1);

    const frame = await figure(page, ".present iframe");
    await frame.locator("#picture svg").click();
    await page.keyboard.press("Home");
    assert.equal(await clock(frame), "step 0 of 12, controller");
    await page.keyboard.press(ARROWS[0]);
    assert.equal(await clock(frame), "step 0 of 12, content");
    assert.equal(await slide(page), 1, "a key that the figure uses does not move the deck");
    await page.keyboard.press("PageDown");
    await until("the next slide by a clicker", async () => (await slide(page)) === 2);
    await page.keyboard.press("PageUp");
    await until("the slide before", async () => (await slide(page)) === 1);
    await frame.locator("#picture svg").click();
    await page.keyboard.press("End");
    await page.keyboard.press(ARROWS[0]);
    await until("the next slide after the last frame", async () => (await slide(page)) === 2);
    await page.keyboard.press(ARROWS[1]);
    await until("back", async () => (await slide(page)) === 1);
    await frame.locator("#picture svg").click();
    await page.keyboard.press("Home");
    await page.keyboard.press(ARROWS[1]);
    await until("the slide before the first frame", async () => (await slide(page)) === 0);
    return page;
  },

  async messages_go_both_ways() {
    const page = await open("embed/plain.html");
    const frame = await figure(page, "#copy");
    await page.click("#jump");
    await until("the step asked for", async () => (await clock(frame)) === "step 3 of 12, shift");
    await until("the answer", async () => (await page.textContent("#news")) === "step 3, shift of W0");
    await page.evaluate(() => tapescope(document.getElementById("copy")).show({ step: 9, head: "R0", theme: "dark" }));
    await until("another head", async () => (await page.textContent("#news")) === "step 9 of R0");
    await until("the theme", () => frame.evaluate(() => document.documentElement.dataset.theme === "dark"));
    await page.evaluate(() => tapescope(document.getElementById("copy")).show({ step: 0, play: true }));
    await until("playing", async () => /^step [1-9]/.test(await clock(frame)));
    return page;
  },

  async a_figure_that_has_not_started_shows_what_was_asked() {
    const page = await open("embed/plain.html");
    await page.evaluate(() => {
      const frame = document.getElementById("copy");
      tapescope(frame).show({ step: 4, stage: "gate", head: "R0" });
      frame.src = "copy.html?again";
      tapescope(frame).show({ step: 5, stage: "gate", head: "R0" });
    });
    await until("the last request", async () => (await clock(await figure(page, "#copy"))) === "step 5 of 12, gate");
    return page;
  },

  async messages_of_other_windows_and_versions_are_ignored() {
    const page = await open("embed/plain.html");
    const frame = await figure(page, "#copy");
    await page.click("#jump");
    await until("the step", async () => (await page.textContent("#news")) === "step 3, shift of W0");
    const before = await page.textContent("#news");
    await page.evaluate(async () => {
      window.keys = [];
      addEventListener("keydown", (event) => keys.push(event.key));
      const other = document.body.appendChild(document.createElement("iframe"));
      other.srcdoc = `<script>parent.postMessage({ tapescope: 1, key: "x" }, "*");
        parent.postMessage({ tapescope: 1, step: 0, stage: "", head: "W0" }, "*");</script>`;
      await new Promise((ready) => (other.onload = ready));
      postMessage({ tapescope: 1, key: "y" }, "*");
    });
    await frame.evaluate(() => {
      parent.postMessage({ tapescope: 2, step: 0, stage: "", head: "W0" }, "*");
      parent.postMessage({ tapescope: 1, key: "z" }, "*");
    });
    await until("the key of the figure", () => page.evaluate(() => keys.length > 0));
    assert.deepEqual(await page.evaluate(() => keys), ["z"]);
    assert.equal(await page.textContent("#news"), before);
    return page;
  },

  two_figures_on_a_page_are_independent: () => two("embed/plain.html"),

  two_figures_in_sphinx_are_independent: () => two("embed/myst/index.html"),

  async a_screen_reader_hears_the_sentence_of_the_step() {
    const page = await open("embed/plain.html");
    const frame = await figure(page, "#copy");
    await page.click("#jump");
    await until("the step", async () => (await clock(frame)) === "step 3 of 12, shift");
    const tree = await frame.locator("body").ariaSnapshot();
    assert.match(tree, /W0 moves on by one row: 97 % on row 4, before on row 3\./);
    assert.match(tree, /slider "Step"/);
    assert.equal(await frame.locator("#words").getAttribute("aria-live"), "polite");
    assert.equal(await page.locator("iframe#copy").getAttribute("title"), "Copy of six vectors");
    return page;
  },

  lecture_light: () => lecture("light"),

  lecture_dark: () => lecture("dark"),

  async keys_of_the_lecture() {
    const page = await open("lecture/index.html", "?theme=light#/2");
    await until("the deck", () => page.evaluate(() => Reveal.isReady()));
    const frame = await figure(page, ".present iframe");
    await page.keyboard.press(ARROWS[0]);
    await until("the first item", async () => (await clock(frame)) === "step 13 of 25, controller");
    await page.keyboard.press(ARROWS[0]);
    await until("the second item", async () => (await clock(frame)) === "step 13 of 25, content");
    await page.keyboard.press(ARROWS[1]);
    await until("one item back", async () => (await clock(frame)) === "step 13 of 25, controller");
    await page.keyboard.press("Enter");
    await page.keyboard.press(ARROWS[0]);
    await until("a key in the figure", async () => (await clock(frame)) === "step 13 of 25, content");
    assert.equal(await slide(page), 2);
    await page.keyboard.press("Escape");
    await until("the deck has the keyboard", () => page.evaluate(() => document.activeElement === document.body));
    await page.keyboard.press(ARROWS[0]);
    await page.keyboard.press(ARROWS[0]);
    await until("items again", async () => (await clock(frame)) === "step 13 of 25, sharpen");
    assert.equal(await page.evaluate(() => Reveal.isOverview()), false);
    await page.keyboard.press("z");
    const box = await page.locator(".present iframe").boundingBox();
    assert.deepEqual([Math.round(box.width), Math.round(box.height)], [1280, 720]);
    await page.screenshot({ path: join(screens, "large.png") });
    await page.keyboard.press("z");
    await page.keyboard.press("t");
    await until("the dark figure", () => frame.evaluate(() => document.documentElement.dataset.theme === "dark"));
    await page.keyboard.press("PageDown");
    await until("the next slide", async () => (await slide(page)) === 3);
    return page;
  },
};

/** The frames of a page: a click and a key in one of them leave the other as it is. */
async function two(path) {
  const page = await open(path);
  const [first, second] = [await figure(page, "iframe >> nth=0"), await figure(page, "iframe >> nth=1")];
  const [before, other] = [await clock(first), await clock(second)];
  await first.locator("#picture svg").click();
  await page.keyboard.press("Home");
  for (const _ of [1, 2, 3]) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("t");
  const moved = await clock(first);
  assert.notEqual(moved, before);
  assert.equal(await clock(second), other);
  await second.locator("#picture svg").click();
  await page.keyboard.press("End");
  await page.keyboard.press("h");
  assert.match(await clock(second), /^step 25 of 25/);
  assert.equal(await clock(first), moved);
  const themes = [first, second].map((frame) => frame.evaluate(() => document.documentElement.dataset.theme));
  assert.deepEqual(await Promise.all(themes), ["dark", "light"]);
  return page;
}

/** Gives the lecture by → alone, from the first slide to the last; nothing is cut, and figures follow. */
async function lecture(theme) {
  const page = await open("lecture/index.html", `?theme=${theme}`);
  await until("the deck", () => page.evaluate(() => Reveal.isReady()));
  const slides = await page.evaluate(() => Reveal.getTotalSlides());
  assert.equal(slides, 11);
  for (let at = 0; at < slides; at++) {
    assert.equal(await slide(page), at);
    const live = (await page.locator(".present iframe").count()) > 0;
    if (live) await figure(page, ".present iframe");
    while (await page.evaluate(() => Reveal.availableFragments().next)) {
      const wanted = await page.evaluate(() => {
        Reveal.nextFragment();
        const visible = [...document.querySelectorAll(".present .fragment.visible[data-step]")].pop();
        return visible && !visible.dataset.play ? { ...visible.dataset } : null;
      });
      if (!wanted) continue;
      const shown = `step ${wanted.step} of \\d+${wanted.stage ? `, ${wanted.stage}` : ""}$`;
      await until(`${JSON.stringify(wanted)} on slide ${at + 1}`, async () =>
        new RegExp(shown).test(await clock(await figure(page, ".present iframe"))));
    }
    const cut = await page.evaluate(() => {
      const edge = document.querySelector(".present iframe")?.getBoundingClientRect().left ?? innerWidth;
      const parts = ["h1", "li", ".words p", ".two p", "table", ".eq", "svg"];
      const all = parts.flatMap((part) => [...document.querySelectorAll(`.present ${part}`)]);
      const isCut = (own) => {
        const { right, bottom } = own.getBoundingClientRect();
        return bottom > innerHeight || right > (own.closest(".words") ? edge : innerWidth) || own.scrollWidth > own.clientWidth + 1;
      };
      return all.filter(isCut).map((own) => own.textContent.slice(0, 30));
    });
    assert.deepEqual(cut, [], `slide ${at + 1}`);
    if (live) {
      const frame = await figure(page, ".present iframe");
      assert.ok(await frame.evaluate(() => document.documentElement.scrollHeight <= innerHeight), `figure of slide ${at + 1}`);
    }
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(screens, `${theme}-${String(at + 1).padStart(2, "0")}.png`) });
    await page.keyboard.press(ARROWS[0]);
  }
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".reveal-viewport")).backgroundColor),
    theme === "dark" ? "rgb(22, 24, 28)" : "rgb(255, 255, 255)");
  return page;
}

const passed = await run(tests, async (page) => {
  assert.deepEqual(page.problems, []);
  await page.close();
});
await browser.close();
process.exit(passed ? 0 : 1);
