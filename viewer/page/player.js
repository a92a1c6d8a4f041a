// The player: time, buttons and keys, and the loop that draws.

const PLAY = '<svg width="14" height="14" viewBox="0 0 14 14"><path d="M3 1l10 6-10 6z" fill="currentColor"/></svg>';
const PAUSE = '<svg width="14" height="14" viewBox="0 0 14 14"><path d="M2 1h4v12H2zM8 1h4v12H8z" fill="currentColor"/></svg>';
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const SLOW = 40; // ms a frame from which on fewer pixels are drawn

const element = (id) => document.getElementById(id);

class Player {
  constructor(about, arrays) {
    this.canvas = element("scene");
    const surfaces = [...Array(about.surfaces).keys()].map((i) => ({
      vertices: arrays[`vertices${i}`].data, normals: arrays[`normals${i}`].data, faces: arrays[`faces${i}`].data,
    }));
    this.about = about;
    this.renderer = new Renderer(this.canvas, surfaces);
    this.motion = new Motion(arrays, about);
    this.now = 0;
    this.speed = 1;
    this.playing = false;
    this.sharpness = Math.min(window.devicePixelRatio || 1, 2);
    this.dirty = true;
    this.slow = 0;
    this.drawn = 0;
    this.orbit = new Orbit(this.canvas, about.camera, () => (this.dirty = true));
    this.curves = new Curves(element("plot"), element("legend"), arrays, about, (share) => this.seek(share * this.motion.length));
    this.choices();
    this.buttons();
    this.frame();
    this.play(this.motion.frames > 1);
    this.before = performance.now();
    requestAnimationFrame((time) => this.loop(time));
  }

  choices() {
    const fill = (select, pairs, chosen, act) => {
      for (const [value, text] of pairs) select.add(new Option(text, value, false, value === chosen));
      select.onchange = () => (act(select.value), this.canvas.focus());
    };
    fill(element("speed"), SPEEDS.map((s) => [s, `${s}×`]), 1, (value) => (this.speed = +value));
    const { envs, bodies, follows } = this.about;
    const rows = envs.map((env, i) => [i, `environment ${env}`]);
    fill(element("show"), [["grid", "side by side"], ["all", "together"], ...rows], this.motion.what, (value) => this.show(value));
    element("choose").hidden = envs.length < 2;
    const first = new Map();
    for (let g = 0; g < this.motion.geoms; g++) if (this.motion.moves[g] && !first.has(bodies[g])) first.set(bodies[g], g);
    const chosen = follows >= 0 && this.motion.moves[follows] && this.motion.what !== "grid" ? follows : -1;
    fill(element("follow"), [[-1, "nothing"], ...[...first].map(([name, g]) => [g, name])], chosen, (value) => this.follow(+value));
    this.follow(chosen);
  }

  buttons() {
    const toggle = (id) => (element(id).hidden = !element(id).hidden);
    element("play").onclick = () => this.play(!this.playing);
    element("back").onclick = () => this.advance(-1);
    element("next").onclick = () => this.advance(1);
    element("home").onclick = () => this.home();
    element("fold").onclick = () => (toggle("curves"), (this.dirty = true));
    element("full").onclick = () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen());
    element("fold").hidden = element("curves").hidden = this.curves.empty;
    const slider = element("time");
    slider.max = this.motion.length;
    slider.oninput = () => (this.play(false), this.seek(+slider.value));
    const keys = { " ": "play", ArrowLeft: "back", ArrowRight: "next", h: "home", c: "fold", f: "full" };
    document.addEventListener("keydown", (event) => {
      if (/SELECT|INPUT|BUTTON/.test(event.target.tagName) || !(event.key in keys)) return;
      event.preventDefault();
      element(keys[event.key]).click();
    });
    window.addEventListener("resize", () => (this.dirty = true));
  }

  play(on) {
    if (on && this.now >= this.motion.length) this.now = 0;
    this.playing = on;
    element("play").innerHTML = on ? PAUSE : PLAY;
  }

  seek(seconds) {
    this.now = clamp(seconds, 0, this.motion.length);
    this.dirty = true;
  }

  advance(frames) {
    this.play(false);
    this.seek((Math.round(this.now / this.motion.step) + frames) * this.motion.step);
  }

  show(value) {
    const what = /^\d+$/.test(value) ? +value : value;
    this.motion.show(what);
    this.follow(this.followed);
    this.frame();
  }

  // Puts all that is shown into the picture.
  frame() {
    if (this.motion.shown.length > 1 && this.motion.width) {
      const { start } = this.orbit, wide = this.motion.width;
      this.orbit.start = { ...this.about.camera, target: [0, 0, start.target[2]], distance: this.about.camera.distance + 1.45 * wide, elevation: -26 };
    } else this.orbit.start = this.about.camera;
    this.orbit.home();
    this.follow(this.followed);
  }

  home() {
    this.orbit.home();
    this.follow(this.followed);
  }

  follow(geom) {
    this.followed = geom;
    this.lead = geom >= 0 ? this.motion.position(this.now, 0, geom) : null;
    this.dirty = true;
  }

  // Shifts the camera by what the followed body has moved, and by less of what it has risen.
  chase() {
    if (this.followed < 0) return;
    const place = this.motion.position(this.now, 0, this.followed), moved = sub(place, this.lead);
    this.orbit.target = add(this.orbit.target, [moved[0], moved[1], 0.3 * moved[2]]);
    this.lead = place;
  }

  resize() {
    const width = Math.max(1, Math.round(this.canvas.clientWidth * this.sharpness));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * this.sharpness));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
  }

  // The panel covers the lower part of the picture: its middle is above that.
  lift() {
    return Math.min(0.6, element("panel").offsetHeight / Math.max(this.canvas.clientHeight, 1));
  }

  draw() {
    const { orbit, motion, renderer } = this;
    this.resize();
    this.chase();
    renderer.place(...motion.instances(this.now));
    const span = Math.max(0.75 * orbit.distance, 0.1 * this.about.camera.distance);
    const view = { eye: orbit.eye(), target: orbit.target, fovy: orbit.fovy, distance: orbit.distance, span, lift: this.lift(), dimming: 0.075 * this.about.camera.distance };
    renderer.draw(view, motion.floors(this.now));
    const share = motion.length ? this.now / motion.length : 0;
    if (!element("curves").hidden) this.curves.draw(share, motion.shown[0]);
    element("time").value = this.now;
    element("clock").textContent = `${this.now.toFixed(2)} s of ${motion.length.toFixed(2)} s`;
    this.dirty = false;
    this.drawn++;
  }

  loop(time) {
    const passed = Math.min(time - this.before, 250);
    this.before = time;
    if (this.playing) {
      this.now += (this.speed * passed) / 1000;
      if (this.now >= this.motion.length) this.now = this.motion.frames > 1 ? this.now % this.motion.length : 0;
      this.dirty = true;
      this.slow = passed > SLOW ? this.slow + 1 : 0;
      if (this.slow > 12 && this.sharpness > 0.6) {
        this.sharpness *= 0.8;
        this.renderer.shadowTaps = 6;
        this.slow = 0;
      }
    }
    if (this.dirty) this.draw();
    requestAnimationFrame((next) => this.loop(next));
  }
}

async function begin() {
  try {
    const about = JSON.parse(element("about").textContent);
    window.replay = new Player(about, await unpackArrays(about.arrays, element("numbers").textContent));
  } catch (error) {
    element("message").hidden = false;
    element("message").textContent = `The replay cannot be shown: ${error.message}`;
    throw error;
  }
}

begin();
