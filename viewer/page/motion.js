// The recorded poses: which bodies are where at a time, for the environments that are shown.

class Motion {
  constructor(arrays, about) {
    this.arrays = arrays;
    this.about = about;
    [this.frames, this.envs] = arrays.time.shape;
    const moves = Array.from(arrays.moves.data);
    this.geoms = arrays.surface.data.length; // planes follow
    this.moving = moves.filter((flag) => flag).length;
    let moved = 0, still = 0;
    this.row = moves.map((flag) => (flag ? moved++ : still++));
    this.moves = moves;
    this.still = still;
    const steps = [];
    for (let f = 1; f < this.frames; f++) steps.push(arrays.time.data[f * this.envs] - arrays.time.data[(f - 1) * this.envs]);
    steps.sort((a, b) => a - b);
    this.step = steps.length ? steps[steps.length >> 1] : 1;
    if (!(this.step > 0)) this.step = 1 / 30;
    this.order = this.groupGeoms();
    this.show(this.envs > 1 && !this.sharesGround() ? "grid" : this.envs > 1 ? "all" : 0);
  }

  get length() {
    return (this.frames - 1) * this.step;
  }

  // Geoms of one surface together, those that let light through apart: [[surface, clear, [geoms]]].
  groupGeoms() {
    const groups = new Map();
    for (let g = 0; g < this.geoms; g++) {
      const surface = this.arrays.surface.data[g], clear = this.arrays.color.data[4 * g + 3] < 255;
      const key = 2 * surface + clear;
      if (!groups.has(key)) groups.set(key, [surface, clear, []]);
      groups.get(key)[2].push(g);
    }
    return [...groups.values()];
  }

  // True if there is much still ground, on which environments stand in places of their own.
  sharesGround() {
    for (let g = 0; g < this.geoms; g++) {
      const surface = this.arrays.surface.data[g];
      if (!this.moves[g] && this.arrays[`vertices${surface}`].shape[0] > 2000) return true;
    }
    return false;
  }

  // what: "grid" for side by side, "all" for all in one place, or the row of an environment.
  show(what) {
    this.what = what;
    this.shown = typeof what === "number" ? [what] : [...Array(this.envs).keys()];
    const columns = Math.ceil(Math.sqrt(this.shown.length)), rows = Math.ceil(this.shown.length / columns);
    const spacing = what === "grid" ? this.spacing() : 0;
    this.offsets = this.shown.map((_, i) => [
      ((i % columns) - (columns - 1) / 2) * spacing, ((rows - 1) / 2 - Math.floor(i / columns)) * spacing,
    ]);
    this.columns = columns;
    this.width = spacing * (columns - 1);
    const grains = this.about.particles.reduce((sum, _, k) => sum + this.arrays[`grain_radii${k}`].data.length, 0);
    this.data = new Float32Array(this.shown.length * (this.geoms + grains) * INSTANCE);
  }

  // m between environments side by side: what their bodies reach, but not more than six times what they are wide.
  spacing() {
    let wide = 0, first = 0;
    for (let e = 0; e < this.envs; e++) {
      const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
      for (let f = 0; f < this.frames; f++) {
        for (let g = 0; g < this.geoms; g++) {
          if (!this.moves[g]) continue;
          for (const axis of [0, 1]) {
            const x = this.arrays.pos.data[3 * ((f * this.envs + e) * this.moving + this.row[g]) + axis];
            low[axis] = Math.min(low[axis], x);
            high[axis] = Math.max(high[axis], x);
          }
        }
        if (f === 0) first = Math.max(first, high[0] - low[0], high[1] - low[1]);
      }
      wide = Math.max(wide, high[0] - low[0], high[1] - low[1]);
    }
    const size = 0.6 * this.about.camera.distance;
    return Math.max(size, 1.3 * Math.min(wide, 6 * Math.max(first, 0.3 * size))) || size;
  }

  // The two frames around a time and the share of the second; an episode that begins anew is not blended into.
  around(seconds) {
    const place = clamp(seconds / this.step, 0, this.frames - 1), frame = Math.min(Math.floor(place), Math.max(this.frames - 2, 0));
    return [frame, Math.min(frame + 1, this.frames - 1), place - frame];
  }

  // Position of a geom (or plane) of an environment at a time, with the environment's place in the grid.
  position(seconds, shown, g) {
    const pose = new Float32Array(INSTANCE);
    this.write(this.around(seconds), this.shown[shown], g, this.offsets[shown], pose, 0);
    return [pose[0], pose[1], pose[2]];
  }

  write([before, after, share], env, g, offset, out, at) {
    const { pos, quat, still_pos, still_quat, time } = this.arrays, row = this.row[g];
    if (this.moves[g]) {
      if (time.data[after * this.envs + env] < time.data[before * this.envs + env]) after = before = share < 0.5 ? before : after;
      const a = (before * this.envs + env) * this.moving + row, b = (after * this.envs + env) * this.moving + row;
      for (const i of [0, 1, 2]) out[at + i] = (1 - share) * pos.data[3 * a + i] + share * pos.data[3 * b + i];
      blendQuaternions(quat.data, 4 * a, 4 * b, share, out, at + 3);
    } else {
      const a = env * this.still + row;
      for (const i of [0, 1, 2]) out[at + i] = still_pos.data[3 * a + i];
      for (const i of [0, 1, 2, 3]) out[at + 3 + i] = still_quat.data[4 * a + i];
    }
    out[at] += offset[0];
    out[at + 1] += offset[1];
  }

  // Radius of a surface about its origin.
  reach(surface) {
    this.reaches = this.reaches || [];
    if (this.reaches[surface] === undefined) {
      const { data } = this.arrays[`vertices${surface}`];
      let square = 0;
      for (let i = 0; i < data.length; i += 3) square = Math.max(square, data[i] ** 2 + data[i + 1] ** 2 + data[i + 2] ** 2);
      this.reaches[surface] = Math.sqrt(square);
    }
    return this.reaches[surface];
  }

  // A sphere around all instances: center and radius.
  sphere(groups) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const { surface, first, count } of groups)
      for (let i = first; i < first + count; i++)
        for (const k of [0, 1, 2]) {
          const reach = this.reach(surface) * this.data[i * INSTANCE + 11];
          low[k] = Math.min(low[k], this.data[i * INSTANCE + k] - reach);
          high[k] = Math.max(high[k], this.data[i * INSTANCE + k] + reach);
        }
    return low[0] > high[0] ? [0, 0, 0, 0] : [...scale(add(low, high), 0.5), 0.5 * Math.hypot(...sub(high, low))];
  }

  // Instances at a time for Renderer.place: [data, groups, sphere around them].
  instances(seconds) {
    const around = this.around(seconds), color = this.arrays.color.data, groups = [];
    let count = 0;
    for (const [surface, clear, geoms] of this.order) {
      const first = count;
      for (const g of geoms) {
        const once = this.what === "all" && !this.moves[g];
        for (let i = 0; i < (once ? 1 : this.shown.length); i++) {
          this.write(around, this.shown[i], g, this.offsets[i], this.data, count * INSTANCE);
          for (const k of [0, 1, 2, 3]) this.data[count * INSTANCE + 7 + k] = color[4 * g + k] / 255;
          this.data[count * INSTANCE + 11] = 1;
          count++;
        }
      }
      groups.push({ surface, clear, first, count: count - first, ground: this.about.ground.includes(surface) ? 0.5 * this.about.cell : 0 });
    }
    for (const [k, group] of this.about.particles.entries()) {
      const first = count;
      for (let i = 0; i < this.shown.length; i++) count = this.writeParticles(around, k, group, i, count);
      groups.push({ surface: this.about.surfaces - 1, clear: group.opacity < 1, first, count: count - first, ground: 0 });
    }
    return [this.data, groups, this.sphere(groups)];
  }

  // Writes the particles of a group that are there, of the environment in a place of `shown`; returns the next instance.
  writeParticles([before, after, share], k, group, place, count) {
    const places = this.arrays[`grains${k}`].data, radii = this.arrays[`grain_radii${k}`].data;
    const colors = this.arrays[`grain_colors${k}`].data, number = radii.length, env = this.shown[place];
    const { time } = this.arrays, absent = 65535;
    if (time.data[after * this.envs + env] < time.data[before * this.envs + env]) after = before = share < 0.5 ? before : after;
    for (let p = 0; p < number; p++) {
      let a = 3 * ((before * this.envs + env) * number + p), b = 3 * ((after * this.envs + env) * number + p);
      if (places[a] === absent || places[b] === absent) a = b = share < 0.5 ? a : b;
      if (places[a] === absent) continue;
      const at = count++ * INSTANCE;
      for (const i of [0, 1, 2]) {
        const offset = i < 2 ? this.offsets[place][i] : 0;
        this.data[at + i] = group.low[i] + group.step[i] * ((1 - share) * places[a + i] + share * places[b + i]) + offset;
        this.data[at + 7 + i] = colors[3 * (env * number + p) + i] / 255;
      }
      this.data.set([1, 0, 0, 0], at + 3);
      this.data[at + 10] = group.opacity;
      this.data[at + 11] = radii[p];
    }
    return count;
  }

  // Floors at a time, those of the first environment that is shown.
  floors(seconds) {
    const around = this.around(seconds), colors = this.arrays.plane_colors.data, found = [];
    for (let p = 0; p < this.about.bodies.length - this.geoms; p++) {
      const pose = new Float32Array(INSTANCE);
      this.write(around, this.shown[0], this.geoms + p, [0, 0], pose, 0);
      found.push({
        position: Array.from(pose.slice(0, 3)), turn: axesOf(pose.slice(3, 7)), cell: this.about.cell,
        one: Array.from(colors.slice(6 * p, 6 * p + 3)), two: Array.from(colors.slice(6 * p + 3, 6 * p + 6)),
      });
    }
    return found;
  }
}
