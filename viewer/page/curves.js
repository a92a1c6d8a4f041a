// Reward and other numbers over time, for one environment; a click goes to that time.

const INKS = ["#1f6f78", "#d1603d", "#5b6abf", "#c29b1b", "#8a4f9e", "#3f8f4f", "#b8405e", "#667", "#2b8cc4", "#997950"];
const FIRST_SHOWN = 5;

class Curves {
  constructor(canvas, legend, arrays, about, seek) {
    this.canvas = canvas;
    const named = about.curves.map((name, i) => ({ name, values: arrays[`curve${i}`], ink: INKS[i % INKS.length], on: false }));
    this.curves = named.filter((curve) => curve.values.data.some(Number.isFinite));
    const isReward = (curve) => /reward/.test(curve.name);
    const ranked = [...this.curves.filter(isReward), ...this.curves.filter((curve) => !isReward(curve))];
    const rewards = ranked.filter(isReward).length || 1;
    ranked.slice(0, Math.min(rewards, FIRST_SHOWN)).forEach((curve) => (curve.on = true));
    for (const curve of ranked) {
      const button = document.createElement("button"), line = document.createElement("i");
      line.style.background = curve.ink;
      button.append(line, curve.name.replaceAll("_", " "));
      button.setAttribute("aria-pressed", curve.on);
      button.onclick = () => {
        curve.on = !curve.on;
        button.setAttribute("aria-pressed", curve.on);
        this.draw(this.now, this.env);
      };
      const item = document.createElement("li");
      item.append(button);
      legend.append(item);
    }
    const go = (event) => {
      if (!(event.buttons & 1)) return;
      const box = canvas.getBoundingClientRect();
      seek(clamp((event.clientX - box.left - 44) / (box.width - 52), 0, 1));
    };
    canvas.addEventListener("pointerdown", go);
    canvas.addEventListener("pointermove", go);
    this.now = this.env = 0;
  }

  get empty() {
    return !this.curves.length;
  }

  // share: of the whole time that has passed; env: row of the environment.
  draw(share, env) {
    this.now = share;
    this.env = env;
    const box = this.canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    if (!box.width) return;
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const pen = this.canvas.getContext("2d"), on = this.curves.filter((curve) => curve.on);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    const left = 44, right = box.width - 8, top = 22, bottom = box.height - 6;
    let low = Infinity, high = -Infinity;
    for (const { values } of on) {
      const [frames, envs] = values.shape;
      for (let f = 0; f < frames; f++) {
        const value = values.data[f * envs + env];
        if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
    if (!(high > low)) [low, high] = Number.isFinite(low) ? [low - 1, low + 1] : [0, 1];
    const x = (f, frames) => left + ((right - left) * f) / Math.max(frames - 1, 1);
    const y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = "#5a6475";
    pen.strokeStyle = "rgba(40, 60, 90, .15)";
    pen.textAlign = "right";
    for (const value of [low, (low + high) / 2, high]) {
      pen.beginPath();
      pen.moveTo(left, y(value));
      pen.lineTo(right, y(value));
      pen.stroke();
      pen.fillText(Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2), left - 6, y(value) + 4);
    }
    for (const { values, ink } of on) {
      const [frames, envs] = values.shape;
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      pen.beginPath();
      let down = false;
      for (let f = 0; f < frames; f++) {
        const value = values.data[f * envs + env];
        if (!Number.isFinite(value)) {
          down = false;
          continue;
        }
        pen[down ? "lineTo" : "moveTo"](x(f, frames), y(value));
        down = true;
      }
      pen.stroke();
    }
    const at = left + (right - left) * share;
    pen.strokeStyle = "#223";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(at, top - 4);
    pen.lineTo(at, bottom + 4);
    pen.stroke();
  }
}
