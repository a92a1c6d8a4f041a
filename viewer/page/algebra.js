// Vectors as arrays of 3, quaternions w first, matrices of 16 by columns (as WebGL has them). z is up.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scale(a, 1 / Math.max(Math.hypot(...a), 1e-12));
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

function multiply(a, b) {
  const product = new Float32Array(16);
  for (let column = 0; column < 4; column++)
    for (let row = 0; row < 4; row++)
      for (let k = 0; k < 4; k++) product[4 * column + row] += a[4 * k + row] * b[4 * column + k];
  return product;
}

// `lift`: by which the middle of the picture is above its center, as a share of half its height.
function perspective(fovy, aspect, near, far, lift) {
  const f = 1 / Math.tan(fovy / 2), depth = 1 / (near - far);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, -lift, (far + near) * depth, -1, 0, 0, 2 * far * near * depth, 0]);
}

// A box of half width `half` across and `depth` deep on both sides of its middle.
function orthographic(half, depth) {
  return new Float32Array([1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1]);
}

// World to camera: x right, y up, looking along -z.
function lookAt(eye, target, up) {
  const back = unit(sub(eye, target)), right = unit(cross(up, back)), top = cross(back, right);
  return new Float32Array([
    right[0], top[0], back[0], 0, right[1], top[1], back[1], 0, right[2], top[2], back[2], 0,
    -dot(right, eye), -dot(top, eye), -dot(back, eye), 1,
  ]);
}

// Writes the quaternion between two, by the short way, into `out` at `at`.
function blendQuaternions(data, a, b, share, out, at) {
  let product = 0;
  for (let i = 0; i < 4; i++) product += data[a + i] * data[b + i];
  const sign = product < 0 ? -1 : 1;
  let length = 0;
  for (let i = 0; i < 4; i++) {
    const value = (1 - share) * data[a + i] + sign * share * data[b + i];
    out[at + i] = value;
    length += value * value;
  }
  length = 1 / Math.sqrt(Math.max(length, 1e-12));
  for (let i = 0; i < 4; i++) out[at + i] *= length;
}

// The inverse by Gauss and Jordan, of rows in the transpose; the transpose of an inverse is the inverse of a transpose.
function invert(matrix) {
  const rows = [0, 1, 2, 3].map((r) => [...Array.from(matrix.slice(4 * r, 4 * r + 4)), ...[0, 1, 2, 3].map((c) => +(c === r))]);
  for (let column = 0; column < 4; column++) {
    let pivot = column;
    for (let r = column + 1; r < 4; r++) if (Math.abs(rows[r][column]) > Math.abs(rows[pivot][column])) pivot = r;
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    const lead = rows[column][column];
    for (let k = 0; k < 8; k++) rows[column][k] /= lead;
    for (let r = 0; r < 4; r++) {
      if (r === column) continue;
      const factor = rows[r][column];
      for (let k = 0; k < 8; k++) rows[r][k] -= factor * rows[column][k];
    }
  }
  return new Float32Array(rows.flatMap((row) => row.slice(4)));
}

// The columns of the rotation of a quaternion.
function axesOf(q) {
  const [w, x, y, z] = q;
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
  ];
}
