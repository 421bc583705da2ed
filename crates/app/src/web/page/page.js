// The operator's page: one stream carries the server's status, another the watched room.
// Names come from players, so they are only ever set as text.

import { Chart, spark } from "/chart.js";
import { Stage } from "/stage.js";

const SAMPLES = 600;
const TREND = 60;
/** The most bans and rooms listed, and players per page. */
const ROWS = 100;
const PAGE = 25;
/** The name of players that the server plays. */
const BOT = "Bot";

const find = (id) => document.getElementById(id);
const stage = new Stage(find("canvas"));
let samples = [];
let status = null;
let watched = null;
let scenes = null;
/** Round trips of the last minute, by member. */
const trends = new Map();

const REASONS = {
  malformed: "not a packet",
  stranger_limit: "strangers over the limit",
  player_limit: "players over the limit",
  answer_limit: "answers over the limit",
  stray: "unexpected in that state",
  numbers: "out of order",
  bad_proof: "wrong cookie, token or ticket",
  tokenless: "rtype without a token",
  reach: "lan from a public address",
  unguarded: "dialect without a token",
  password_limit: "password tries over the limit",
  guest_limit: "lan guests over the limit",
  other_version: "players with another version",
  banned: "from banned addresses",
  unsent: "not accepted by the system",
};

const count = (value) => value.toLocaleString("en");
const known = (value, say) => (value === null || value === undefined ? "–" : say(value));
const millis = (ms) => `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
const micros = (us) => (us >= 10000 ? `${(us / 1000).toFixed(0)} ms` : `${(us / 1000).toFixed(2)} ms`);
const percent = (share) => `${(share * 100).toFixed(1)} %`;
const rate = (bytes) => (bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB/s` : `${(bytes / 1e3).toFixed(1)} kB/s`);
const counted = (value) => (value >= 10 ? value.toFixed(0) : String(+value.toFixed(1)));

function since(ms) {
  const seconds = Math.floor(ms / 1000);
  const [days, hours, minutes] = [86400, 3600, 60].map((unit) => Math.floor(seconds / unit));
  if (days) return `${days} d ${hours % 24} h`;
  if (hours) return `${hours} h ${minutes % 60} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

const charts = [
  { title: "Round trip", least: 1, format: millis, series: [{ name: "median", of: (s) => s.rtt_ms }, { name: "worst", of: (s) => s.rtt_worst_ms }] },
  { title: "Tick time", least: 100, format: micros, series: [{ name: "p50", of: (s) => s.tick_p50_us }, { name: "p99", of: (s) => s.tick_p99_us }] },
  { title: "Traffic", least: 1000, format: rate, series: [{ name: "out", of: (s) => s.bytes_out }, { name: "in", of: (s) => s.bytes_in }] },
  { title: "Players", least: 2, format: counted, series: [{ name: "", of: (s) => s.players }] },
  { title: "Loss", least: 0.01, format: percent, series: [{ name: "", of: (s) => s.loss }] },
  { title: "Dropped per second", least: 1, format: counted, series: [{ name: "", of: (s) => s.dropped }] },
].map((spec) => new Chart(find("charts"), spec));

/** Writes only changed text, so that nothing is laid out again for the same text. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const say = (id, text) => write(find(id), text);

/** A number with its unit in small type. */
function tell(id, text) {
  const [value, ...unit] = text.split(" ");
  const small = document.createElement("span");
  small.textContent = unit.length ? ` ${unit.join(" ")}` : "";
  find(id).replaceChildren(value, small);
}

function make(name, className, text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.textContent = text;
  return element;
}

function showGlance() {
  const sample = samples.at(-1) ?? {};
  const here = status.rooms.flatMap((room) => room.members).filter((member) => member.present);
  const players = here.filter((member) => !member.watches).length;
  const places = status.rooms.reduce((sum, room) => sum + room.capacity, 0);
  const used = status.rooms.filter((room) => room.members.some((member) => member.present)).length;
  tell("players", count(players));
  const watching = here.length - players;
  say("players-more", `of ${count(places)} slots${watching ? `, ${watching} watching` : ""}`);
  tell("rooms-used", count(used));
  say("rooms-more", `of ${count(status.rooms.length)}`);
  tell("rtt", known(sample.rtt_ms, millis));
  say("rtt-more", known(sample.rtt_worst_ms, (ms) => `worst ${millis(ms)}`));
  tell("loss", known(sample.loss, percent));
  say("loss-more", "of what players send");
  tell("tick", known(sample.tick_p99_us, micros));
  const { late, late_by_machine: held, count: ticks } = status.ticks;
  say("tick-more", `${count(late)} late of ${count(ticks)}${held ? `, ${count(held)} due to the machine` : ""}`);
  tell("out", known(sample.bytes_out, rate));
  say("out-more", known(sample.bytes_in, (bytes) => `received ${rate(bytes)}`));
}

function showHead() {
  document.body.dataset.uptimeMs = status.uptime_ms;
  document.title = `${status.name} · Backspin`;
  say("name", status.name);
  say("about", `Backspin ${status.version}, up ${since(status.uptime_ms)}`);
  const state = find("state");
  state.className = status.draining ? "pill" : "pill live";
  say("state", status.draining ? "draining" : "live");
  find("operator").hidden = !status.commands;
  say("drain", status.draining ? "Stop draining" : "Drain");
}

function showRooms() {
  const inUse = status.rooms.filter((room) => room.members.length > 0);
  const shown = inUse.slice(0, ROWS);
  const list = find("rooms");
  const entries = new Map([...list.children].map((entry) => [entry.dataset.room, entry]));
  const ordered = shown.map((room) => {
    const entry = entries.get(String(room.room)) ?? roomEntry(room);
    const players = room.members.filter((member) => !member.watches).length;
    const [, seats, names] = entry.firstChild.children;
    const people = room.members.map((member) => member.name || `player ${member.player}`);
    const slow = room.slow ? `, slow: ${count(room.skipped_ticks)} ticks skipped` : "";
    const leftOut = room.left_out ? `, ${count(room.left_out)} left out` : "";
    write(seats, `${players}/${room.capacity}${slow}${leftOut}`);
    seats.title = room.last_left_out ?? "";
    write(names, [...people, ...room.bots.map(() => BOT)].join(", "));
    const pressed = String(room.room === watched);
    if (entry.firstChild.getAttribute("aria-pressed") !== pressed) entry.firstChild.setAttribute("aria-pressed", pressed);
    return entry;
  });
  if (ordered.length !== list.children.length || ordered.some((entry, index) => entry !== list.children[index])) {
    list.replaceChildren(...ordered);
  }
  const empty = status.rooms.filter((room) => room.members.length === 0);
  const chips = empty.slice(0, 12).map((room) => make("span", "", room.name));
  const more = empty.length > 12 ? [`and ${empty.length - 12} more`] : [];
  const key = empty.map((room) => room.room).join();
  if (find("empty-rooms").dataset.key !== key) {
    find("empty-rooms").dataset.key = key;
    find("empty-rooms").replaceChildren(...(empty.length ? ["empty:", ...chips, ...more] : []));
  }
}

function roomEntry(room) {
  const entry = make("li");
  entry.dataset.room = room.room;
  const button = make("button");
  button.type = "button";
  button.append(make("strong", "", room.name), make("span", "note"), make("small"));
  button.addEventListener("click", () => {
    hasChosen = true;
    if (room.room !== watched) watch(room.room);
  });
  entry.append(button);
  return entry;
}

/** `by` is the sort key of a column; numbers start with the largest. */
const COLUMNS = [
  { label: "Name", field: "name", text: (m) => nameOf(m), by: ({ member }) => nameOf(member) },
  { label: "Room", field: "room", text: (m, room) => room.name, by: ({ room }) => room.name },
  { label: "Protocol", field: "dialect", text: (m) => m.dialect, by: ({ member }) => member.dialect },
  { label: "Round trip", field: "rtt", text: (m) => known(m.rtt_ms, millis), by: ({ member }) => member.rtt_ms, grade: (m) => grade(m.rtt_ms, 100, 200) },
  { label: "Jitter", field: "jitter", text: (m) => known(m.jitter_ms, millis), by: ({ member }) => member.jitter_ms, grade: (m) => grade(m.jitter_ms, 30, 60) },
  { label: "Loss", field: "loss", text: (m) => known(m.loss, percent), by: ({ member }) => member.loss, grade: (m) => grade(m.loss, 0.02, 0.1) },
  { label: "Inputs", field: "inputs", text: (m) => `${m.input_rate.toFixed(1)}/s`, by: ({ member }) => member.input_rate },
  { label: "Gaps", field: "gaps", text: (m) => known(m.gaps, count), by: ({ member }) => member.gaps },
];
const WORDS = ["name", "room", "dialect"];

/** How the players are listed. */
const listing = { field: "room", down: false, filter: "", page: 0 };

function nameOf(member) {
  return member.name || `player ${member.player}`;
}

function makeHead() {
  const row = find("members").tHead.rows[0];
  for (const { label, field } of COLUMNS) {
    const cell = make("th", WORDS.includes(field) ? "" : "number");
    cell.scope = "col";
    cell.dataset.field = field;
    const button = make("button", "", label);
    button.type = "button";
    button.addEventListener("click", () => {
      const down = listing.field === field ? !listing.down : !WORDS.includes(field);
      sortBy(field, down);
    });
    cell.append(button);
    row.append(cell);
    for (const down of [false, true]) {
      const order = WORDS.includes(field) ? (down ? ", Z to A" : "") : down ? ", highest first" : ", lowest first";
      const option = make("option", "", `By ${label.toLowerCase()}${order}`);
      option.value = `${field} ${down ? "down" : "up"}`;
      find("sort").append(option);
    }
  }
  row.append(make("th", "spark number", "Last minute"), make("th"));
  find("sort").value = "room up";
}

function sortBy(field, down) {
  Object.assign(listing, { field, down, page: 0 });
  find("sort").value = `${field} ${down ? "down" : "up"}`;
  if (status) showMembers();
}

/** The listed members, sorted; those without the figure come last. */
function listed() {
  const all = status.rooms.flatMap((room) => room.members.map((member) => ({ room, member })));
  const wanted = listing.filter.toLowerCase();
  const fits = ({ room, member }) => [nameOf(member), room.name, member.dialect].some((text) => text.toLowerCase().includes(wanted));
  const { by } = COLUMNS.find((column) => column.field === listing.field);
  const words = WORDS.includes(listing.field);
  const compare = (a, b) => {
    if (words) return WORD_ORDER.compare(a.key, b.key);
    const [left, right] = [a.key ?? null, b.key ?? null];
    if (left === null || right === null) return (left === null) - (right === null);
    return listing.down ? right - left : left - right;
  };
  const keyed = (wanted ? all.filter(fits) : all).map((entry) => ({ ...entry, key: by(entry) }));
  // Rooms are already in order, and sorting is stable.
  if (listing.field !== "room") keyed.sort((a, b) => (words && listing.down ? compare(b, a) : compare(a, b)));
  else if (listing.down) keyed.reverse();
  return { all, shown: keyed };
}

/** "Pong 2" comes before "Pong 10". */
const WORD_ORDER = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function grade(value, fair, poor) {
  if (value === null || value < fair) return "";
  return value < poor ? "fair" : "poor";
}

function memberRow(key) {
  const row = make("tr");
  row.dataset.key = key;
  for (const { label, field } of COLUMNS) {
    const cell = make("td", WORDS.includes(field) ? field : "number");
    cell.dataset.field = field;
    if (field !== "name") cell.dataset.label = label;
    row.append(cell);
  }
  row.append(make("td", "spark"), make("td"));
  return row;
}

function showMembers() {
  const { all, shown } = listed();
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  listing.page = Math.min(listing.page, pages - 1);
  const first = listing.page * PAGE;
  const body = find("members").tBodies[0];
  const rows = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const ordered = shown.slice(first, first + PAGE).map(({ room, member }) => memberShown(rows, room, member));
  if (ordered.length !== body.rows.length || ordered.some((row, index) => row !== body.rows[index])) {
    body.replaceChildren(...ordered);
  }
  for (const cell of find("members").tHead.rows[0].cells) {
    if (cell.dataset.field === listing.field) cell.ariaSort = listing.down ? "descending" : "ascending";
    else cell.removeAttribute("aria-sort");
  }
  find("members").hidden = shown.length === 0;
  find("nobody").hidden = shown.length > 0;
  say("nobody", all.length === 0 ? "Nobody is here." : `None of the ${count(all.length)} players matches "${listing.filter}".`);
  say("members-note", listing.filter && shown.length ? `${count(shown.length)} of ${count(all.length)}` : "");
  find("pager").hidden = pages === 1;
  say("pages", `${count(first + 1)} to ${count(Math.min(first + PAGE, shown.length))} of ${count(shown.length)}`);
  find("back").disabled = listing.page === 0;
  find("next").disabled = listing.page === pages - 1;
}

/** The current row of a member. */
function memberShown(rows, room, member) {
  const key = `${room.room}/${member.player}`;
  const row = rows.get(key) ?? memberRow(key);
  row.className = member.present ? "" : "away";
  COLUMNS.forEach(({ field, text, grade }, index) => {
    const cell = row.cells[index];
    if (field !== "name") write(cell, text(member, room));
    if (grade) cell.className = `number ${grade(member)}`;
    if (field !== "name") return;
    cell.textContent = text(member, room);
    if (!member.present) cell.append(" ", make("small", "", "away"));
    if (member.watches) cell.append(" ", make("small", "", "watching"));
  });
  row.cells[COLUMNS.length].replaceChildren(spark(trends.get(key) ?? [], 1));
  showKick(row.cells[COLUMNS.length + 1], room, member);
  return row;
}

makeHead();
find("filter").addEventListener("input", () => {
  Object.assign(listing, { filter: find("filter").value.trim(), page: 0 });
  if (status) showMembers();
});
find("sort").addEventListener("change", () => {
  const [field, order] = find("sort").value.split(" ");
  sortBy(field, order === "down");
});
for (const [id, by] of [["back", -1], ["next", 1]]) {
  find(id).addEventListener("click", () => {
    listing.page = Math.max(0, listing.page + by);
    showMembers();
  });
}

/** Keeps the round trips of the last minute. */
function remember() {
  const here = new Set();
  for (const room of status.rooms) {
    for (const member of room.members) {
      const key = `${room.room}/${member.player}`;
      here.add(key);
      const trend = trends.get(key) ?? [];
      if (trend.push(member.rtt_ms) > TREND) trend.shift();
      trends.set(key, trend);
    }
  }
  for (const key of trends.keys()) if (!here.has(key)) trends.delete(key);
}

function showDropped() {
  const list = find("dropped");
  if (!list.children.length) {
    for (const reason of Object.keys(status.dropped)) {
      const entry = make("div");
      entry.append(make("dt", "", REASONS[reason] ?? reason), make("dd"));
      entry.dataset.reason = reason;
      list.append(entry);
    }
  }
  for (const entry of list.children) {
    const dropped = status.dropped[entry.dataset.reason];
    entry.lastChild.textContent = count(dropped);
    entry.className = dropped ? "some" : "";
  }
}

function showWatched() {
  const room = status.rooms.find((room) => room.room === watched);
  // It was closed: choose another.
  if (watched !== null && !room) {
    hasChosen = false;
    watch(null);
    return;
  }
  const players = room ? room.members.filter((member) => !member.watches) : [];
  const bots = room ? room.bots.map((player) => [player, BOT]) : [];
  stage.names = new Map([...players.map((member) => [member.player, member.name]), ...bots]);
  say("stage-name", room ? room.name : "No room selected");
  if (!room) {
    say("stage-score", "");
    say("stage-note", "choose one from the list");
  }
}

/** Watches a room, or none. */
function watch(room) {
  if (scenes) scenes.close();
  [watched, scenes] = [room, null];
  stage.clear();
  history.replaceState(null, "", room ? `#room=${room}` : "#");
  if (room) {
    scenes = new EventSource(`/api/rooms/${room}/events`);
    scenes.addEventListener("scene", (event) => {
      const scene = JSON.parse(event.data);
      stage.show(scene);
      say("stage-score", scene.score);
      say("stage-note", scene.note);
      find("canvas").dataset.tick = scene.tick;
    });
  }
  if (status) {
    showWatched();
    showRooms();
  }
}

let hasChosen = false;

/** Without a choice, the busiest room. */
function chooseRoom() {
  if (hasChosen) return;
  const players = (room) => room.members.filter((member) => member.present && !member.watches).length;
  const wish = Number(/room=(\d+)/.exec(location.hash)?.[1]);
  const wished = status.rooms.find((room) => room.room === wish);
  const busiest = [...status.rooms].sort((a, b) => players(b) - players(a))[0];
  const room = wished ?? (busiest && players(busiest) ? busiest : null);
  if (room) {
    hasChosen = true;
    watch(room.room);
  }
}

/** Sends a request with the token; null if the server cannot be reached. */
async function ask(method, path) {
  try {
    return await fetch(path, { method, headers: { Authorization: `Bearer ${find("token").value}` } });
  } catch {
    say("operator-note", "The server cannot be reached.");
    return null;
  }
}

async function command(method, path, question) {
  if (!confirm(question)) return;
  const reply = await ask(method, path);
  if (!reply) return;
  say("operator-note", await reply.text());
  await showBans();
}

/** Whether the token was right the last time it was used. */
let isTrusted = false;
const BANS_EVERY_MS = 15000;
const CHAT_EVERY_MS = 3000;

/** The server's own reply is written for curl users. */
const WRONG_TOKEN =
  "Wrong token. It is the --http-token (or BACKSPIN_HTTP_TOKEN, or http_token in the settings file) " +
  "that the server was started with. After five wrong ones in a minute you have to wait.";

async function showBans() {
  const reply = find("token").value === "" ? null : await ask("GET", "/api/bans");
  isTrusted = reply?.ok ?? false;
  find("with-token").hidden = !isTrusted;
  if (reply && !isTrusted) say("operator-note", reply.status === 401 ? WRONG_TOKEN : await reply.text());
  if (!isTrusted) return;
  const { bans, saved } = await reply.json();
  const shown = bans.slice(-ROWS).reverse();
  const note = bans.length === 0 ? "Nobody is banned." : shown.length < bans.length ? `The newest ${ROWS} of ${count(bans.length)}.` : "";
  say("bans-note", saved ? note : `${note} Bans are not saved: they end when the server stops.`);
  find("bans").replaceChildren(...shown.map(banEntry));
  showChat();
}

/** The last lines that players have written. They are text and nothing else: none of it is read as HTML. */
async function showChat() {
  if (!isTrusted) return;
  const reply = await ask("GET", "/api/chat");
  if (!reply?.ok) return;
  const lines = (await reply.json()).slice(-ROWS);
  say("chat-note", lines.length === 0 ? "Nobody has written anything." : "");
  find("chat").replaceChildren(...lines.map((line) => {
    const entry = make("li", "", line.text);
    entry.prepend(make("span", "note", `${line.room_name} `), make("strong", "", `${line.name || `player ${line.player}`}: `));
    return entry;
  }));
}

function banEntry({ address, name, since_unix_ms: since, until_unix_ms: until }) {
  const entry = make("li");
  const button = make("button", "kick", "Lift");
  button.type = "button";
  button.addEventListener("click", () => command("DELETE", `/api/bans/${address}`, `Lift the ban on ${address}?`));
  const when = (ms) => new Date(ms).toLocaleString();
  const span = until === null ? "permanently" : `until ${when(until)}`;
  entry.append(make("strong", "", address), make("span", "", name), make("small", "", `${span}, since ${when(since)}`), button);
  return entry;
}

/** For how long, in a sentence. */
const forHowLong = () => find("term").selectedOptions[0].textContent.trim();

function showKick(cell, room, member) {
  const wanted = status.commands && isTrusted;
  if (!wanted) {
    cell.replaceChildren();
    return;
  }
  if (!cell.firstChild) {
    const button = make("button", "kick");
    const path = `/api/rooms/${room.room}/players/${member.player}/kick`;
    const who = member.name || `player ${member.player}`;
    button.addEventListener("click", () => {
      const term = find("term").value;
      if (!term) return command("POST", path, `Remove ${who}? The player may come back.`);
      return command("POST", `${path}?minutes=${term}`, `Remove ${who}? Everyone at the player's address is removed, and they ${forHowLong()}.`);
    });
    cell.append(button);
  }
  const text = find("term").value ? "Ban" : "Remove";
  if (cell.firstChild.textContent !== text) cell.firstChild.textContent = text;
}

find("drain").addEventListener("click", () => {
  if (status.draining) return command("DELETE", "/api/drain", "Stop draining and let new players in?");
  return command("POST", "/api/drain", "Drain the server? Current players keep playing, new ones are refused. You can undo it.");
});
/** The last token tried, and when. */
let tried = { token: "", at: 0 };

/** Enter both changes the field and submits the form: count it as one try. */
function tryToken(event) {
  event.preventDefault();
  const token = find("token").value;
  const isRepeat = token === tried.token && Date.now() - tried.at < 500;
  tried = { token, at: Date.now() };
  if (!isRepeat) showBans();
}

/** How long an address is banned: the term chosen for players, or permanently. */
const addressTerm = () => (find("term").value ? forHowLong().replace("are banned ", "") : "permanently");

find("token-form").addEventListener("submit", tryToken);
find("token").addEventListener("change", tryToken);
find("term").addEventListener("change", () => {
  say("ban", `Ban this address ${addressTerm()}`);
  if (status) showMembers();
});
find("ban-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const [address, term] = [find("ban-address").value.trim(), find("term").value || "forever"];
  if (!address) return;
  command("POST", `/api/bans/${address}?minutes=${term}`, `Ban ${address} ${addressTerm()}? Everyone there is removed.`);
});
setInterval(() => isTrusted && showBans(), BANS_EVERY_MS);
setInterval(showChat, CHAT_EVERY_MS);

function show() {
  // The tab is hidden: keep the data and draw it when the tab is shown again.
  if (document.hidden) return;
  const began = performance.now();
  showHead();
  showGlance();
  chooseRoom();
  showWatched();
  showRooms();
  showMembers();
  showDropped();
  charts.forEach((chart) => chart.draw(samples));
  document.body.dataset.drawnInMs = (performance.now() - began).toFixed(1);
}

document.addEventListener("visibilitychange", () => status && show());

const events = new EventSource("/api/events");
events.addEventListener("history", (event) => {
  samples = JSON.parse(event.data);
});
events.addEventListener("status", (event) => {
  const told = JSON.parse(event.data);
  status = told.status;
  const newest = samples.at(-1);
  if (told.sample && told.sample.uptime_s !== newest?.uptime_s) samples.push(told.sample);
  samples = samples.slice(-SAMPLES);
  remember();
  show();
});
events.addEventListener("error", () => {
  find("state").className = "pill lost";
  say("state", "lost, trying again");
});
