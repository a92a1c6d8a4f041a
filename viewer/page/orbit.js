// A camera that turns about a point: left drag turns, right or shift drag shifts, the wheel zooms; one finger turns, two
// shift and zoom.

const RADIANS = Math.PI / 180;

class Orbit {
  constructor(canvas, start, changed) {
    this.start = start;
    this.changed = changed;
    this.fovy = 45 * RADIANS;
    this.fingers = new Map();
    this.home();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, event);
    });
    canvas.addEventListener("pointermove", (event) => this.moved(event, canvas.clientHeight));
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.03 : 0.0012)));
    }, { passive: false });
  }

  home() {
    this.target = [...this.start.target];
    this.distance = this.start.distance;
    this.azimuth = this.start.azimuth;
    this.elevation = this.start.elevation;
    this.changed();
  }

  forward() {
    const a = this.azimuth * RADIANS, e = this.elevation * RADIANS;
    return [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  }

  eye() {
    return sub(this.target, scale(this.forward(), this.distance));
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, this.start.distance * 0.02, this.start.distance * 50);
    this.changed();
  }

  turn(right, down) {
    this.azimuth -= right * 0.35;
    this.elevation = clamp(this.elevation - down * 0.35, -89, 89);
    this.changed();
  }

  shift(right, down, height) {
    const size = (2 * this.distance * Math.tan(this.fovy / 2)) / height;
    const forward = this.forward(), across = unit(cross(forward, [0, 0, 1])), up = cross(across, forward);
    this.target = add(this.target, add(scale(across, -right * size), scale(up, down * size)));
    this.changed();
  }

  moved(event, height) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const right = event.clientX - before.clientX, down = event.clientY - before.clientY;
    if (this.fingers.size === 1) {
      if (event.buttons & 6 || event.shiftKey || event.ctrlKey) this.shift(right, down, height);
      else this.turn(right, down);
    } else {
      const other = [...this.fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
      const span = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      this.shift(right / 2, down / 2, height);
      this.zoom(Math.max(span(before), 1) / Math.max(span(event), 1));
    }
    this.fingers.set(event.pointerId, event);
  }
}
