// Lines over time, as SVG.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 400;
const HEIGHT = 120;

/** The shortest and longest time span of a chart, in seconds. */
const SHORTEST = 60;
const LONGEST = 600;

/** A line through `values`, one per step from the right edge; unknown values leave a gap. */
function line(values, steps, top, width, height) {
  let path = "";
  let pen = false;
  const tenths = (at) => Math.round(at * 10) / 10;
  values.forEach((value, index) => {
    if (value === null || value === undefined) {
      pen = false;
      return;
    }
    const x = width - (values.length - 1 - index) * (width / (steps - 1));
    const y = height - 1.5 - (Math.min(value, top) / top) * (height - 4);
    path += `${pen ? "L" : "M"}${tenths(x)} ${tenths(y)}`;
    pen = true;
  });
  return path;
}

/** The least round number that is not below any value. */
function roundTop(values, least) {
  const most = Math.max(least, ...values.filter((value) => value !== null));
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 3, 4, 5, 6, 8, 10].find((times) => times * unit >= most - 1e-9) * unit;
}

function svg(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** So many steps that a short past fills a good part of the width. */
function span(count, least, most) {
  return Math.min(Math.max(Math.ceil(count * 1.25), least), most);
}

/** A small line without words. */
export function spark(values, least) {
  const steps = span(values.length, 10, 60);
  const root = svg("svg", { viewBox: "0 0 120 24", "aria-hidden": "true" });
  const d = line(values, steps, roundTop(values, least), 120, 24);
  root.append(svg("path", { d, fill: "none", stroke: "var(--first)", "stroke-width": 1.5 }));
  return root;
}

/** A card with a chart of one or two series: `{title, least, format, series: [{name, of}]}`. */
export class Chart {
  constructor(parent, spec) {
    this.spec = spec;
    this.steps = SHORTEST;
    this.samples = [];
    this.pointed = null;
    this.root = document.createElement("div");
    this.root.className = "card chart";
    const head = document.createElement("div");
    head.className = "head";
    const title = document.createElement("h2");
    title.textContent = spec.title;
    const legend = document.createElement("p");
    legend.className = "legend";
    this.values = spec.series.map((series, index) => {
      const entry = document.createElement("span");
      entry.className = index ? "second" : "first";
      const value = document.createElement("b");
      entry.append(value, series.name ? ` ${series.name}` : "");
      legend.append(entry);
      return value;
    });
    head.append(title, legend);
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    this.svg.setAttribute("aria-label", spec.title);
    for (const y of [1, HEIGHT / 2, HEIGHT - 1]) {
      this.svg.append(svg("line", { x1: 0, x2: WIDTH, y1: y, y2: y, stroke: "var(--line)", "vector-effect": "non-scaling-stroke" }));
    }
    this.paths = spec.series.map((_, index) => {
      const stroke = index ? "var(--second)" : "var(--first)";
      const path = svg("path", { fill: "none", stroke, "stroke-width": 1.75, "stroke-linejoin": "round", "vector-effect": "non-scaling-stroke" });
      this.svg.append(path);
      return path;
    });
    // The first series lies on top.
    this.svg.append(this.paths[0]);
    this.cursor = svg("line", { y1: 0, y2: HEIGHT, stroke: "var(--soft)", "vector-effect": "non-scaling-stroke", visibility: "hidden" });
    this.svg.append(this.cursor);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    const axis = document.createElement("div");
    axis.className = "axis";
    this.top = document.createElement("span");
    this.when = document.createElement("span");
    axis.append(this.top, this.when);
    this.root.append(head, this.svg, axis);
    parent.append(this.root);
    // What is out of sight is drawn once it comes into it.
    this.isSeen = true;
    new IntersectionObserver((entries) => {
      this.isSeen = entries.at(-1).isIntersecting;
      this.draw(this.samples);
    }).observe(this.root);
  }

  /** Draws samples, the newest last. */
  draw(samples) {
    this.samples = samples;
    if (!this.isSeen) return;
    this.steps = span(samples.length, SHORTEST, LONGEST);
    const rows = this.spec.series.map((series) => samples.map(series.of));
    const top = roundTop(rows.flat(), this.spec.least);
    rows.forEach((row, index) => this.paths[index].setAttribute("d", line(row, this.steps, top, WIDTH, HEIGHT)));
    this.top.textContent = `0 to ${this.spec.format(top)}`;
    this.tell();
  }

  past() {
    return this.steps > 120 ? `${Math.round(this.steps / 60)} min` : `${this.steps} s`;
  }

  point(event) {
    this.pointed = null;
    if (event) {
      const box = this.svg.getBoundingClientRect();
      const back = Math.round((1 - (event.clientX - box.left) / box.width) * (this.steps - 1));
      if (back >= 0 && back < this.samples.length) this.pointed = back;
    }
    this.tell();
  }

  /** Says the newest values, or those at the pointer. */
  tell() {
    const back = this.pointed ?? 0;
    const sample = this.samples[this.samples.length - 1 - back];
    this.spec.series.forEach((series, index) => {
      const value = sample ? series.of(sample) : null;
      this.values[index].textContent = value === null || value === undefined ? "–" : this.spec.format(value);
    });
    this.when.textContent = this.pointed === null ? `the last ${this.past()}` : `${back} s ago`;
    const x = WIDTH - back * (WIDTH / (this.steps - 1));
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", this.pointed === null ? "hidden" : "visible");
  }
}
