/*! For a page around figures of Tapescope that run: messages to and from each frame, and keys that a figure has no use
 * for. `tapescope(frame).show({ step: 13, stage: "gate", head: "R0" })`, also `theme` and `play`;
 * `tapescope(frame).on(news => …)` hears `{ step, stage, head, steps }`. Frames of the class `tapescope` need no call. */
const tapescope = (() => {
  "use strict";
  const CODES = { Enter: 13, Escape: 27, " ": 32, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38,
    ArrowRight: 39, ArrowDown: 40, ",": 188, ".": 190, "/": 191, "?": 191 };
  const figures = new Map();

  function figure(frame) {
    if (!figures.has(frame)) {
      const own = { last: null, asked: null, listeners: [] };
      const post = asked => frame.contentWindow && frame.contentWindow.postMessage({ tapescope: 1, ...asked }, "*");
      own.hear = news => {
        const { asked } = own;
        own.asked = null;
        const places = ["step", "stage", "head", "parts"].filter(key => asked && key in asked);
        if (places.some(key => news[key] !== asked[key])) post(asked); // It had not started yet.
        for (const listener of own.listeners) listener(news);
      };
      own.show = asked => { own.asked = own.last = asked; post(asked); };
      own.on = listener => { own.listeners.push(listener); };
      frame.addEventListener("load", () => own.last && own.show(own.last));
      figures.set(frame, own);
    }
    return figures.get(frame);
  }

  addEventListener("message", ({ source, data }) => {
    if (!source || !data || data.tapescope !== 1) return;
    const frames = [...document.querySelectorAll("iframe.tapescope"), ...figures.keys()];
    const frame = frames.find(frame => frame.contentWindow === source);
    if (!frame) return;
    if (typeof data.key !== "string") return figure(frame).hear(data);
    const keyCode = CODES[data.key] || (data.key.length === 1 ? data.key.toUpperCase().charCodeAt(0) : 0);
    frame.dispatchEvent(new KeyboardEvent("keydown", { key: data.key, keyCode, which: keyCode, bubbles: true, cancelable: true }));
  });
  return figure;
})();
