// Draws a room from about thirty scenes per second, interpolating between two of them.

/** The interpolation delay in ticks: enough to nearly always have two scenes. */
const BEHIND = 5;
const KEPT = 24;

const SIDES = ["#6ea8fe", "#ffb35c"];
const SHIPS = ["#6ea8fe", "#ffb35c", "#5eead4", "#f0a6ff"];
const SPECIES = ["#ff6b6b", "#ff9f5a", "#ff6fb5", "#aab4c8", "#c58bff", "#8fd16a"];
const BONUSES = [["W", "#ff6b6b"], ["S", "#6ea8fe"], ["V", "#ffe066"], ["L", "#7ee787"], ["F", "#ffb35c"]];

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.paint = canvas.getContext("2d");
    this.scenes = [];
    this.names = new Map();
    this.tick = null;
    this.frames = 0;
    this.stars = Array.from({ length: 90 }, (_, index) => {
      // The same sky every time.
      const noise = (salt) => ((Math.sin(index * 127.1 + salt * 311.7) * 43758.5453) % 1 + 1) % 1;
      return { x: noise(1), y: noise(2), depth: 0.15 + 0.6 * noise(3) };
    });
    const frame = (time) => {
      this.draw(time);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Begins anew, with another room. */
  clear() {
    this.scenes = [];
    this.tick = null;
    this.time = null;
  }

  /** Takes a scene from the server. */
  show(scene) {
    const newest = this.scenes.at(-1);
    if (newest && scene.tick <= newest.tick) this.clear();
    scene.byId = new Map(scene.things.map((thing) => [thing[1], thing]));
    this.scenes.push(scene);
    if (this.scenes.length > KEPT) this.scenes.shift();
  }

  /** Where the drawn time stands: it runs evenly, and is bent towards the newest scene. */
  advance(time) {
    const newest = this.scenes.at(-1);
    const wanted = newest.tick - BEHIND;
    const seconds = this.time === null ? 0 : Math.min((time - this.time) / 1000, 0.25);
    this.time = time;
    if (this.tick === null || Math.abs(wanted - this.tick) > 30) this.tick = wanted;
    this.tick += seconds * newest.rate;
    this.tick += (wanted - this.tick) * Math.min(1, seconds * 3);
  }

  draw(time) {
    const { canvas, paint } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    paint.setTransform(1, 0, 0, 1, 0, 0);
    paint.clearRect(0, 0, width, height);
    if (this.scenes.length === 0) return;
    this.advance(time);
    const at = this.scenes.findLastIndex((scene) => scene.tick <= this.tick);
    const from = this.scenes[Math.max(at, 0)];
    const to = this.scenes[Math.min(at + 1, this.scenes.length - 1)];
    const part = to.tick > from.tick ? Math.min(Math.max((this.tick - from.tick) / (to.tick - from.tick), 0), 1) : 0;
    const [fieldWidth, fieldHeight] = to.field;
    if (!fieldWidth) return;
    const scale = Math.min(width / fieldWidth, height / fieldHeight);
    // A px of the screen, in px of the field.
    this.unit = ratio / scale;
    paint.setTransform(scale, 0, 0, scale, (width - fieldWidth * scale) / 2, (height - fieldHeight * scale) / 2);
    paint.save();
    paint.beginPath();
    paint.rect(0, 0, fieldWidth, fieldHeight);
    paint.clip();
    this.labels = [];
    const isPong = to.things.some((thing) => thing[0] === "ball");
    if (isPong) this.net(to.field);
    else this.sky(to.field, from.scrolled + (to.scrolled - from.scrolled) * part);
    for (const [kind, id, x, y, w, h, look] of to.things) {
      const before = from.byId.get(id);
      // What has just come is not drawn on a way from nowhere.
      if (!before && part < 0.5 && from !== to) continue;
      const left = before ? before[2] + (x - before[2]) * part : x;
      const up = before ? before[3] + (y - before[3]) * part : y;
      this.thing(kind, id, left, up, w, h, look);
    }
    if (isPong) this.pongNames(to);
    paint.restore();
    this.frames += 1;
  }

  net([width, height]) {
    const { paint } = this;
    paint.fillStyle = "#0e1624";
    paint.fillRect(0, 0, width, height);
    paint.strokeStyle = "#2a3a52";
    paint.lineWidth = 4;
    paint.setLineDash([18, 22]);
    paint.beginPath();
    paint.moveTo(width / 2, 0);
    paint.lineTo(width / 2, height);
    paint.stroke();
    paint.setLineDash([]);
  }

  sky([width, height], scrolled) {
    const { paint } = this;
    paint.fillStyle = "#080c16";
    paint.fillRect(0, 0, width, height);
    for (const { x, y, depth } of this.stars) {
      const left = (((x * width - scrolled * depth) % width) + width) % width;
      paint.fillStyle = `rgb(190 210 255 / ${Math.round(depth * 90)}%)`;
      paint.fillRect(left, y * height, 1 + depth * 2, 1 + depth * 2);
    }
  }

  thing(kind, id, x, y, w, h, look) {
    const { paint } = this;
    const [cx, cy] = [x + w / 2, y + h / 2];
    switch (kind) {
      case "paddle":
        this.round(x, y, w, h, 6, SIDES[look % 2]);
        break;
      case "ball":
        paint.shadowColor = "#ffffff";
        paint.shadowBlur = 18;
        this.disc(cx, cy, w / 2, "#ffffff");
        paint.shadowBlur = 0;
        break;
      case "safe ship":
      case "ship":
        paint.globalAlpha = kind === "ship" || Math.floor(performance.now() / 90) % 2 ? 1 : 0.35;
        this.shape(SHIPS[(look - 1) % 4], [[x, y], [x + w * 0.55, y + h * 0.2], [x + w, cy], [x + w * 0.55, y + h * 0.8], [x, y + h], [x + w * 0.22, cy]]);
        paint.globalAlpha = 1;
        this.label(this.names.get(id), cx, y, h, SHIPS[(look - 1) % 4]);
        break;
      case "pod":
        this.disc(cx, cy, w / 2, "#ffb35c");
        this.disc(cx, cy, w / 4, "#7a3d00");
        break;
      case "shot":
        this.round(x, y, w, h, 2, "#fff3a3");
        break;
      case "heavy shot":
        paint.beginPath();
        paint.ellipse(cx, cy, w / 2, h / 2, 0, 0, 2 * Math.PI);
        paint.fillStyle = "#8ff3ff";
        paint.fill();
        break;
      case "bullet":
        this.disc(cx, cy, w / 2, "#ff5a3c");
        this.disc(cx, cy, w / 4, "#ffe0b0");
        break;
      case "power-up": {
        const [letter, colour] = BONUSES[look] ?? ["?", "#ffffff"];
        this.round(x, y, w, h, 6, colour);
        this.word(letter, cx, cy + 5, "#10151f", 14);
        break;
      }
      case "enemy":
        this.enemy(look, x, y, w, h);
        break;
      case "boss":
        this.shape("#d9466b", [[x, cy], [x + w * 0.3, y], [x + w, y + h * 0.12], [x + w * 0.8, cy], [x + w, y + h * 0.88], [x + w * 0.3, y + h]]);
        this.disc(x + w * 0.38, cy, w * 0.16, "#ffe066");
        this.round(x, y - 14, w, 6, 3, "#3a2030");
        this.round(x, y - 14, (w * look) / 100, 6, 3, "#ff6b6b");
        break;
      default:
        // Something of a game that the page does not know.
        this.round(x, y, w, h, 6, SHIPS[look % 4]);
        this.label(this.names.get(id), cx, y, h, SHIPS[look % 4]);
    }
  }

  enemy(species, x, y, w, h) {
    const colour = SPECIES[species] ?? SPECIES[0];
    const [cx, cy] = [x + w / 2, y + h / 2];
    const shapes = [
      [[x, cy], [x + w * 0.6, y], [x + w, y + h * 0.25], [x + w * 0.7, cy], [x + w, y + h * 0.75], [x + w * 0.6, y + h]],
      [[x, cy], [x + w * 0.35, y], [x + w, y], [x + w * 0.7, cy], [x + w, y + h], [x + w * 0.35, y + h]],
      [[x, cy], [x + w, y], [x + w * 0.75, cy], [x + w, y + h]],
      [[x + w * 0.2, y], [x + w * 0.8, y], [x + w, y + h * 0.4], [x + w, y + h], [x, y + h], [x, y + h * 0.4]],
      [[x, cy], [x + w * 0.2, y], [x + w * 0.85, y], [x + w, y + h * 0.3], [x + w, y + h * 0.7], [x + w * 0.85, y + h], [x + w * 0.2, y + h]],
    ];
    if (shapes[species]) {
      this.shape(colour, shapes[species]);
      this.disc(x + w * 0.34, cy, Math.min(w, h) * 0.13, "#10151f");
      return;
    }
    // A mine: a ball with spikes.
    const spikes = Array.from({ length: 16 }, (_, index) => {
      const reach = index % 2 ? 0.33 : 0.5;
      const angle = (index / 16) * 2 * Math.PI;
      return [cx + Math.cos(angle) * w * reach, cy + Math.sin(angle) * h * reach];
    });
    this.shape(colour, spikes);
    this.disc(cx, cy, w * 0.14, "#10151f");
  }

  pongNames({ field: [width] }) {
    for (const [player, name] of this.names) {
      const isLeft = player % 2 === 1;
      const size = Math.max(30, 13 * this.unit);
      const down = size * (player > 2 ? 2.8 : 1.5);
      this.word(name, isLeft ? 80 : width - 80, down, SIDES[isLeft ? 0 : 1], size, isLeft ? "left" : "right");
    }
  }

  /** A ship's name above it or, where another's stands, below. */
  label(text, x, top, height, colour) {
    if (!text) return;
    const size = Math.max(13, 11 * this.unit);
    this.paint.font = `600 ${size}px system-ui, sans-serif`;
    const half = this.paint.measureText(text).width / 2 + 3;
    const places = [top - 7, top + height + size, top - 7 - size, top + height + 2 * size];
    const isFree = (y) => this.labels.every((other) => Math.abs(other.x - x) > other.half + half || Math.abs(other.y - y) > size);
    const y = places.find(isFree) ?? places[0];
    this.labels.push({ x, y, half });
    this.word(text, x, y, colour, size);
  }

  word(text, x, y, colour, size, align = "center") {
    if (!text) return;
    const { paint } = this;
    paint.font = `600 ${size}px system-ui, sans-serif`;
    paint.textAlign = align;
    paint.fillStyle = colour;
    paint.fillText(text, x, y);
  }

  round(x, y, w, h, radius, colour) {
    const { paint } = this;
    paint.beginPath();
    paint.roundRect(x, y, w, h, radius);
    paint.fillStyle = colour;
    paint.fill();
  }

  disc(x, y, radius, colour) {
    const { paint } = this;
    paint.beginPath();
    paint.arc(x, y, radius, 0, 2 * Math.PI);
    paint.fillStyle = colour;
    paint.fill();
  }

  shape(colour, points) {
    const { paint } = this;
    paint.beginPath();
    points.forEach(([x, y]) => paint.lineTo(x, y));
    paint.closePath();
    paint.fillStyle = colour;
    paint.fill();
  }
}
