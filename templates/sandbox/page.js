// Comfort on top of a page that works without it: new messages every two seconds, and toasts without a reload.
"use strict";
(() => {
  const { updates, chat, show } = document.body.dataset;
  const EVERY_MS = 2000;
  const TOAST_MS = 4000;
  const PARTS = ["chats", "head", "composer"];
  const shown = new WeakMap();

  const scroll = document.getElementById("scroll");
  const atBottom = () => !scroll || scroll.scrollTop > -60; // column-reverse: 0 is the bottom
  const parse = (html) => new DOMParser().parseFromString(html, "text/html").body;
  const parseList = (html) => parse(`<ol>${html}</ol>`).firstElementChild.children;

  function toast({ kind, text, detail }) {
    const box = document.createElement("div");
    box.className = `toast toast-${kind}`;
    box.setAttribute("role", "status");
    box.append(Object.assign(document.createElement("span"), { textContent: text }));
    if (detail) box.append(Object.assign(document.createElement("small"), { textContent: detail }));
    document.getElementById("toasts").append(box);
    setTimeout(() => box.remove(), TOAST_MS);
  }

  // A message that did not change keeps its element, and with it what was typed or unfolded inside.
  function patchMessages(list, html) {
    const old = new Map([...list.children].map((item) => [item.dataset.id, item]));
    const fresh = [...parseList(html)].map((item) => {
      const known = old.get(item.dataset.id);
      if (known && known.dataset.version === item.dataset.version) return known;
      if (known) keepOpen(known, item);
      return item;
    });
    place(list, fresh);
    return fresh.some((item) => !old.has(item.dataset.id));
  }

  // Nothing that stays is moved: a moved element loses the focus.
  function place(list, items) {
    const wanted = new Set(items);
    for (const item of [...list.children]) if (!wanted.has(item)) item.remove();
    let next = list.firstElementChild;
    for (const item of items) {
      if (item === next) next = next.nextElementSibling;
      else list.insertBefore(item, next);
    }
  }

  function keepOpen(before, after) {
    const folds = [...after.querySelectorAll("details.collapsible")];
    [...before.querySelectorAll("details.collapsible")].forEach((fold, i) => { if (folds[i]) folds[i].open = fold.open; });
  }

  // A part that did not change stays; so does one in use. A half-typed line moves into the new part.
  function patchPart(name, html) {
    const part = document.getElementById(name);
    if (!part) return;
    const fresh = parse(html);
    if (shown.get(part) === fresh.innerHTML || part.querySelector("details[open]")) return;
    shown.set(part, fresh.innerHTML);
    const line = part.querySelector("[name=text]");
    const focused = line !== null && line === document.activeElement;
    part.replaceChildren(...fresh.childNodes);
    const next = part.querySelector("[name=text]");
    if (line && next) next.value = line.value;
    if (focused) next?.focus();
  }

  function draw(parts) {
    for (const name of PARTS) patchPart(name, parts[name]);
    const list = document.getElementById("messages");
    if (!list) return;
    const stay = !atBottom();
    const anchor = stay && [...list.children].find((item) => item.getBoundingClientRect().bottom > scroll.getBoundingClientRect().top);
    const top = anchor && anchor.getBoundingClientRect().top;
    const isNew = patchMessages(list, parts.messages);
    if (!stay) scroll.scrollTop = 0; // else stay at the same message: not every browser anchors by itself
    else if (anchor && anchor.isConnected) scroll.scrollTop += anchor.getBoundingClientRect().top - top;
    if (stay && isNew) offerNewer();
    if (isNew) read();
  }

  function offerNewer() {
    if (document.querySelector(".newer")) return;
    const button = Object.assign(document.createElement("button"), { className: "newer", textContent: "有新消息 ↓" });
    const leave = () => { if (atBottom()) { button.remove(); scroll.removeEventListener("scroll", leave); } };
    button.addEventListener("click", () => { scroll.scrollTop = 0; button.remove(); });
    scroll.addEventListener("scroll", leave);
    document.querySelector(".talk").append(button);
  }

  async function refresh() {
    if (!updates) return;
    const query = new URLSearchParams({ chat, show, version: document.body.dataset.version });
    const answer = await fetch(`${updates}?${query}`);
    if (answer.status === 404) location.reload();
    if (answer.status !== 200) return;
    const { version, parts } = await answer.json();
    document.body.dataset.version = version;
    draw(parts);
  }

  // Whoever looks at a chat has read it. The answer is taken too, or the connection stays busy.
  function read() {
    if (!chat || document.hidden) return;
    fetch("read", { method: "POST", headers: { Accept: "application/json" } }).then((answer) => answer.text()).catch(() => {});
  }

  let away = false;
  async function poll() {
    if (!document.hidden) {
      try {
        await refresh();
        if (away) toast({ kind: "success", text: "已重新连上沙箱" });
        away = false;
      } catch {
        if (!away) toast({ kind: "warning", text: "连不上沙箱，正在重试" });
        away = true;
      }
    }
    setTimeout(poll, EVERY_MS);
  }

  async function send(form, submitter) {
    const body = new URLSearchParams(new FormData(form, submitter));
    const line = form.id === "say" ? form.elements.text : null;
    const typed = line?.value;
    if (line) {
      line.value = "";
      if (scroll) scroll.scrollTop = 0; // whoever speaks looks at the end
      setTimeout(() => refresh().catch(() => {}), 150); // the message is there at once, the bot may take its time
    }
    submitter?.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.status);
      const outcome = await answer.json();
      if (outcome.goto) return location.assign(outcome.goto);
      if (outcome.toast) toast(outcome.toast);
      if (line && outcome.toast?.kind === "error" && !line.value) line.value = typed;
      form.closest(".sheet, .popover")?.closest("details.who, details.desk, details.drawer, details.confirm, details.overflow")?.removeAttribute("open");
      await refresh();
    } catch {
      if (line && !line.value) line.value = typed;
      toast({ kind: "error", text: "没有发出去，请再试一次" });
    } finally {
      submitter?.removeAttribute("aria-busy");
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    send(form, event.submitter);
  });

  // A click beside an open fold-out closes it.
  document.addEventListener("click", (event) => {
    for (const fold of document.querySelectorAll("details.who[open], details.desk[open], details.drawer[open], details.confirm[open], details.overflow[open]")) {
      if (!fold.contains(event.target)) fold.open = false;
    }
  });

  for (const name of PARTS) {
    const part = document.getElementById(name);
    if (part) shown.set(part, parse(part.innerHTML).innerHTML);
  }
  document.querySelectorAll("#toasts .toast").forEach((box) => setTimeout(() => box.remove(), TOAST_MS));
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { refresh().catch(() => {}); read(); } });
  read();
  if (updates) setTimeout(poll, EVERY_MS);
})();
