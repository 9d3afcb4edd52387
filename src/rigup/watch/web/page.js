"use strict";
const words = JSON.parse(document.body.dataset.words);
const place = (id) => document.getElementById(id);
const nodes = [];
const GIB = 2 ** 30, MOST = 3600, MOST_OTHERS = 12;
let metric = "gpu", range = 300;
const OF_HOST = { gpu: "cpu", memory: "ram" };

const made = (kind, text, name) => {
  const element = document.createElement(kind);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};
const percent = (value) => (value === undefined || value === null ? "–" : Math.round(value * 100) + "%");
const number = (value, unit) => (value === undefined || value === null ? "–" : Math.round(value) + " " + unit);
const key = (gpu) => gpu.pci_address || String(gpu.index);

// Bytes used and in all: of its own memory, and of one that shares the system's of all that it may take.
const memory = (gpu) => {
  const kinds = [gpu.memory?.unified || gpu.memory?.vram];
  if (gpu.integrated === true) kinds.push(gpu.memory?.gtt);
  const known = kinds.filter((kind) => kind && kind.total !== undefined && kind.used !== undefined);
  if (!known.length) return [undefined, undefined];
  return [known.reduce((sum, kind) => sum + kind.used + (kind.reserved || 0), 0), known.reduce((sum, kind) => sum + kind.total, 0)];
};
const values = (gpu) => {
  const [used, total] = memory(gpu);
  const heat = [gpu.temperature?.edge, gpu.temperature?.junction, gpu.temperature?.memory].filter((value) => value !== undefined);
  return { gpu: gpu.utilisation?.gpu, memory: total ? used / total : undefined, power: gpu.power?.draw, temperature: heat.length ? Math.max(...heat) : undefined };
};

const draw = (canvas, node, series, limit) => {
  const times = node.times, chosen = node.moment === undefined ? times.length - 1 : node.moment;
  const wide = canvas.clientWidth, high = canvas.clientHeight, scale = window.devicePixelRatio || 1;
  if (!wide || !high) return;
  canvas.width = wide * scale;
  canvas.height = high * scale;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  pen.scale(scale, scale);
  const last = range ? chosen : times.length - 1; // all of the time, or what went before the moment
  const end = times.length ? times[last] : 0, span = range || Math.max(end - (times[0] || 0), 1);
  const shown = [];
  for (let at = last; at >= 0 && end - times[at] <= span; at--) shown.push(at);
  const known = shown.map((at) => series[at]).filter((value) => value !== null && value !== undefined);
  const top = metric === "gpu" || metric === "memory" ? 1 : Math.max(metric === "temperature" ? 100 : limit || 0, ...known, 1);
  pen.strokeStyle = style.getPropertyValue("--line");
  pen.fillStyle = style.getPropertyValue("--soft");
  pen.font = "11px system-ui, sans-serif";
  pen.strokeRect(0.5, 0.5, wide - 1, high - 1);
  const unit = metric === "power" ? " W" : metric === "temperature" ? " °C" : "%";
  pen.fillText(Math.round(unit === "%" ? 100 * top : top) + unit, 4, 12);
  pen.strokeStyle = style.getPropertyValue("--use");
  pen.lineWidth = 1.6;
  pen.beginPath();
  let before = null;
  for (const at of shown) {
    const value = series[at];
    if (value === null || value === undefined) { before = null; continue; }
    const x = wide - ((end - times[at]) / span) * wide, y = high - 2 - (Math.min(value, top) / top) * (high - 4);
    if (before === null || before - times[at] > span / 10 + 5) { pen.moveTo(x, y); pen.lineTo(x + 0.5, y); } else pen.lineTo(x, y);
    before = times[at];
  }
  pen.stroke();
  if (node.recorded && chosen >= 0 && times.length) {
    const x = Math.max(0.5, wide - ((end - times[chosen]) / span) * wide - 0.5);
    pen.strokeStyle = style.getPropertyValue("--warn");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x, high);
    pen.stroke();
  }
};

const card = (gpu, node) => {
  const box = made("article", undefined, "card");
  box.append(made("h3", gpu.index + "  " + (gpu.name || gpu.vendor || "GPU")));
  if (gpu.state !== "active") {
    box.append(made("p", (words[gpu.state] || gpu.state) + (gpu.because ? ": " + gpu.because : ""), gpu.state === "asleep" ? "" : "error"));
    return box;
  }
  const now = values(gpu), [used, total] = memory(gpu), line = made("p");
  line.append(made("b", percent(now.gpu)), "  " + (total ? (used / GIB).toFixed(1) + "/" + (total / GIB).toFixed(0) + " GiB" : "–"));
  line.append("  " + number(now.temperature, "°C") + "  " + number(now.power, "W") + "  " + number(gpu.clock?.graphics === undefined ? undefined : gpu.clock.graphics / 1e6, "MHz"));
  box.append(line);
  if (gpu.throttle && gpu.throttle.length) box.append(made("p", "▲ " + words.slowed + " " + gpu.throttle.join(", "), "slowed"));
  const canvas = made("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words[metric] + " " + (gpu.name || gpu.index));
  box.append(canvas);
  const series = node.gpus[key(gpu)];
  if (series) requestAnimationFrame(() => draw(canvas, node, series[metric], gpu.power?.limit));
  return box;
};

const size = (bytes) => (bytes >= GIB / 10 ? (bytes / GIB).toFixed(1) + " GiB" : Math.round(bytes / 2 ** 20) + " MiB");
// The machine in one line; what nobody told is left out.
const ofHost = (host) => {
  const parts = [];
  if (host.cpu?.utilisation !== undefined) parts.push("CPU " + percent(host.cpu.utilisation) + (host.cpu.temperature === undefined ? "" : " " + number(host.cpu.temperature, "°C")));
  if (host.memory) parts.push("RAM " + size(host.memory.used) + "/" + size(host.memory.total));
  if (host.load?.length) parts.push(words.load + " " + host.load[0].toFixed(1));
  for (const disk of (host.disk || []).slice(0, 2)) parts.push(disk.mount + " " + percent(disk.used / Math.max(disk.total, 1)));
  if (host.network) parts.push("↓ " + size(host.network.rx) + "/s ↑ " + size(host.network.tx) + "/s");
  return parts.join(" · ");
};
const hostCard = (node) => {
  const name = OF_HOST[metric], box = made("article", undefined, "card"), canvas = made("canvas");
  const series = node.host?.[name];
  if (!series || !series.some((value) => value !== null)) return null;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", name.toUpperCase());
  box.append(made("h3", name.toUpperCase()), canvas);
  requestAnimationFrame(() => draw(canvas, node, series));
  return box;
};

const held = (process) => process.gpus.reduce((sum, part) => sum + (part.memory?.vram || 0) + (part.memory?.gtt || 0), 0);
const used = (process) => {
  const shares = process.gpus.map((part) => part.utilisation?.gpu).filter((share) => share !== undefined);
  return shares.length ? percent(Math.max(...shares)) : "–";
};
// Columns: head, class, and what a process has there; a narrow screen leaves out what is optional.
const OF_GPUS = [
  ["GPU", "", (process) => process.gpus.map((part) => part.index).join(",")], [words.user, "optional", (process) => process.user || "–"],
  [words.gpu, "", used], [words.memory, "", (process) => (held(process) ? (held(process) / GIB).toFixed(1) + " GiB" : "–")], ["CPU", "optional", (process) => percent(process.cpu)],
  [words.job, "optional", (process) => process.slurm_job || ""],
];
const OF_OTHERS = [
  [words.user, "optional", (process) => process.user || "–"], ["CPU", "", (process) => percent(process.cpu)],
  ["RAM", "", (process) => (process.rss === undefined ? "–" : size(process.rss))], [words.job, "optional", (process) => process.slurm_job || ""],
];
const table = (processes, columns) => {
  const whole = made("table"), head = made("tr");
  for (const [word, name] of [["PID", ""], ...columns, [words.command, ""]]) head.append(made("th", word, name));
  whole.append(head);
  for (const process of processes) {
    const row = made("tr"), command = made("td"), text = process.command || process.name || process.because || "";
    row.append(made("td", process.pid));
    for (const [_word, name, cell] of columns) row.append(made("td", cell(process), name));
    command.append(made("span", text, "command"));
    command.title = text;
    row.append(command);
    whole.append(row);
  }
  const box = made("div", undefined, "scroll");
  box.append(whole);
  return box;
};

const tellState = () => { place("state").textContent = nodes.some((node) => !node.recorded) ? words.live : ""; };
const clock = (time, withDay) => new Date(time * 1000)[withDay ? "toLocaleString" : "toLocaleTimeString"]();
// A recorded machine has a slider over its time, which stays while what it shows is drawn anew.
const sectionOf = (at) => {
  const section = made("section"), node = nodes[at];
  if (node.recorded && node.times.length > 1) {
    const slider = made("input", undefined, "moment");
    slider.type = "range";
    slider.min = 0;
    slider.max = node.times.length - 1;
    slider.value = slider.max;
    slider.setAttribute("aria-label", words.range + ": " + node.name);
    const tell = () => slider.setAttribute("aria-valuetext", clock(node.times[slider.value], true));
    slider.addEventListener("input", () => { tell(); look(at, Number(slider.value)); });
    tell();
    section.append(slider);
  }
  section.append(made("div"));
  return section;
};
// What was at a moment; while an answer is awaited the newest wish alone is kept.
const look = async (at, moment) => {
  const node = nodes[at];
  node.wanted = moment;
  if (node.asking) return;
  node.asking = true;
  try {
    while (node.wanted !== undefined) {
      const wanted = node.wanted;
      node.wanted = undefined;
      const answer = await fetch("/moment?node=" + at + "&at=" + wanted);
      if (answer.ok) Object.assign(node, await answer.json(), { moment: wanted });
      else node.trouble = (await answer.text()).trim();
      show(at);
    }
    tellState();
  } catch { place("state").textContent = words.broken; } finally { node.asking = false; }
};

const show = (at) => {
  const node = nodes[at], sample = node.sample;
  while (place("nodes").children.length <= at) place("nodes").append(sectionOf(place("nodes").children.length));
  const section = place("nodes").children[at].lastChild, open = [...section.querySelectorAll("details[open] summary")].map((summary) => summary.textContent);
  const head = made("h2", node.name);
  if (sample) head.append(made("small", clock(sample.time, node.recorded)));
  const parts = [head];
  if (node.trouble) parts.push(made("p", "✖ " + node.trouble, "trouble"));
  if (sample) {
    const list = made("ul");
    for (const finding of sample.findings) {
      const entry = made("li", undefined, finding.severity), fold = made("details");
      fold.append(made("summary", ({ error: "✖ ", warning: "▲ " }[finding.severity] || "• ") + finding.title + "  [" + finding.cause + "]"), made("p", finding.because), made("p", finding.way), made("pre", finding.commands.join("\n")));
      fold.open = open.includes(fold.firstChild.textContent);
      entry.append(fold);
      list.append(entry);
    }
    const cards = made("div", undefined, "cards");
    for (const gpu of sample.gpus) cards.append(card(gpu, node));
    if (sample.host) parts.push(made("p", ofHost(sample.host), "host"));
    const own = sample.gpus.length ? null : hostCard(node);
    if (own) cards.append(own);
    parts.push(list);
    if (!sample.gpus.length) parts.push(made("p", words.none));
    if (cards.children.length) parts.push(cards);
    const users = [...sample.processes].sort((first, second) => held(second) - held(first));
    if (users.length) parts.push(table(users, OF_GPUS));
    else if (sample.host_processes?.length) parts.push(table(sample.host_processes.slice(0, MOST_OTHERS), OF_OTHERS));
  }
  section.replaceChildren(...parts);
};

const add = (event) => {
  const node = nodes[event.node], before = node.sample?.time;
  if (node.recorded) return; // it is shown as the slider stands
  node.trouble = event.trouble;
  if (event.sample && event.sample.time !== before) {
    node.sample = event.sample;
    node.times.push(event.sample.time);
    for (const gpu of event.sample.gpus) {
      const series = (node.gpus[key(gpu)] ||= { gpu: [], memory: [], power: [], temperature: [] });
      for (const [name, value] of Object.entries(values(gpu))) {
        while (series[name].length < node.times.length - 1) series[name].unshift(null);
        series[name].push(value === undefined ? null : value);
        if (series[name].length > MOST) series[name].shift();
      }
    }
    const host = event.sample.host, ram = host?.memory;
    for (const [name, value] of [["cpu", host?.cpu?.utilisation], ["ram", ram ? ram.used / Math.max(ram.total, 1) : undefined]]) {
      node.host[name].push(value === undefined ? null : value);
      if (node.host[name].length > MOST) node.host[name].shift();
    }
    if (node.times.length > MOST) node.times.shift();
  }
  show(event.node);
};

const choose = (id, options, set) => {
  for (const [value, word] of options) {
    const option = made("option", word);
    option.value = value;
    place(id).append(option);
  }
  place(id).addEventListener("change", (event) => { set(event.target.value); nodes.forEach((_node, at) => show(at)); });
};

const begin = async () => {
  const answer = await fetch("/history");
  if (!answer.ok) { place("state").textContent = words.refused; return; }
  nodes.splice(0, nodes.length, ...(await answer.json()));
  place("nodes").replaceChildren();
  if (nodes[0]?.recorded) { range = 0; place("range").value = "0"; }
  nodes.forEach((_node, at) => show(at));
  const events = new EventSource("/events");
  let broken = false;
  events.onopen = () => { tellState(); if (broken) { events.close(); begin(); } };
  events.onmessage = (event) => add(JSON.parse(event.data));
  events.onerror = () => { broken = true; place("state").textContent = words.broken; };
};
place("metric-word").textContent = words.graph;
place("range-word").textContent = words.range;
choose("metric", ["gpu", "memory", "power", "temperature"].map((name) => [name, words[name]]), (value) => { metric = value; });
choose("range", [[300, "5 min"], [1200, "20 min"], [3600, "1 h"], [0, words.all]], (value) => { range = Number(value); });
window.addEventListener("resize", () => nodes.forEach((_node, at) => show(at)));
begin();
