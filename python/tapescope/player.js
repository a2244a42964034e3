// The view of the widgets in widget.py: it puts a page into a frame and passes messages on.

const DARK = '[data-jp-theme-light="false"], [data-vscode-theme-kind*="dark"], .dark, .dark-theme';
const LIGHT = "[data-jp-theme-light], [data-vscode-theme-kind], .light, .light-theme";
/** The theme of the notebook around this; undefined where it has none of its own. */
const theme = () => document.body.matches(DARK) ? "dark" : document.body.matches(LIGHT) ? "light" : undefined;

/** Calls a function now and when the theme changes; returns what ends this. */
function onTheme(call) {
  const observer = new MutationObserver(call);
  observer.observe(document.body, { attributes: true });
  call();
  return () => observer.disconnect();
}

const child = (parent, name, properties) => parent.appendChild(Object.assign(document.createElement(name), properties));

function renderCurve({ model, el }) {
  const picture = child(el, "div"), words = child(el, "code");
  const paint = () => {
    const isDark = theme() ? theme() === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    picture.innerHTML = model.get("_curves")[Number(isDark)] || "";
    if (picture.firstElementChild) picture.firstElementChild.style.maxWidth = "100%";
    words.textContent = model.get("_words");
  };
  model.on("change", paint);
  const end = onTheme(paint);
  return () => { end(); model.off("change", paint); };
}

const STATE = ["step", "stage", "head", "selection"];

function renderPlayer({ model, el }) {
  el.style.containerType = "inline-size";
  const frames = child(el, "div", { style: "position: relative" });
  const gates = child(el, "div", { style: "display: flex; flex-wrap: wrap; gap: 4px 20px; padding: 0 12px; font: 13px sans-serif" });
  /** The frame on screen, the one that loads, and what the page in it has reported. */
  let frame = null, next = null, said = {};

  const post = news => frame.contentWindow.postMessage({ tapescope: 1, ...news }, "*");

  /** Loads the page in a frame of its own, which takes the place of the other one when it is there. */
  function load() {
    if (next) next.remove();
    if (!model.get("_page")) return;
    next = child(frames, "iframe", { title: "Player of an episode", srcdoc: model.get("_page") });
    next.sandbox.add("allow-scripts");
    next.style.cssText = `display: block; width: 100%; border: 0; height: ${model.get("_height")};`
      + (frame ? "position: absolute; top: 0; visibility: hidden" : "");
  }

  /** Tells the page what has been set in Python. */
  function send() {
    const changed = STATE.filter(name => JSON.stringify(model.get(name)) !== JSON.stringify(said[name]));
    if (!frame || !changed.length) return;
    for (const name of changed) said[name] = model.get(name);
    // A stage belongs to a step, and a head has stages of its own.
    post(Object.fromEntries(["step", "stage", ...changed].map(name => [name, model.get(name)])));
  }

  function receive({ source, data }) {
    if (!data || data.tapescope !== 1) return;
    if (next && source === next.contentWindow) {
      if (frame) frame.remove();
      [frame, next] = [next, null];
      frame.style.position = frame.style.visibility = "";
      post({ theme: theme() });
      said = { stage: "", head: null, selection: null, ...data };
      // The page begins with what is set, or sets it.
      if (model.get("step") !== null) return send();
    } else if (!frame || source !== frame.contentWindow) return;
    for (const name of STATE.filter(name => name in data)) model.set(name, said[name] = data[name]);
    model.save_changes();
    paintGates();
  }

  /** A slider for every gate of the head in this step. */
  function paintGates() {
    const step = model.get("step") || 0, own = model.get("_gates")[model.get("head")] || {}, names = Object.keys(own);
    if (gates.dataset.names !== names.join()) {
      gates.replaceChildren();
      gates.dataset.names = names.join();
      for (const name of names) {
        const label = child(gates, "label", { textContent: name + " " });
        const slider = child(label, "input", { type: "range", min: 0, max: 1, step: 0.01, style: "vertical-align: middle" });
        const value = child(label, "output");
        slider.oninput = () => { value.textContent = " " + Number(slider.value).toFixed(2); };
        slider.onchange = () => {
          value.textContent += " …";
          model.send({ place: `${model.get("step")}:${name}`, value: Number(slider.value) });
        };
      }
      if (names.length) child(gates, "button", { textContent: "Reset gates", style: "border: 1px solid; padding: 0 6px", onclick: () => model.send({ reset: true }) });
      child(gates, "span", { style: "color: #c0392b" });
    }
    names.forEach((name, index) => {
      const [slider, value] = gates.children[index].children, now = own[name][step] || 0;
      slider.value = now;
      value.textContent = " " + now.toFixed(2);
    });
    gates.lastElementChild.textContent = model.get("_message");
  }

  const changes = { "change:_page": load, "change:_gates": paintGates, "change:_message": paintGates };
  for (const name of STATE) changes["change:" + name] = () => { send(); paintGates(); };
  for (const [event, call] of Object.entries(changes)) model.on(event, call);
  addEventListener("message", receive);
  const end = onTheme(() => frame && post({ theme: theme() }));
  load();
  paintGates();
  return () => {
    end();
    removeEventListener("message", receive);
    for (const [event, call] of Object.entries(changes)) model.off(event, call);
  };
}

export default { render: view => view.model.get("_page") === undefined ? renderCurve(view) : renderPlayer(view) };
