// The arrays of the page: base64, deflate, then a table of types, shapes and first bytes (packing.py).

const TYPES = {
  float32: Float32Array, float16: Uint16Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array,
  int8: Int8Array,
};

async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// Half precision: 1 bit of sign, 5 of exponent, 10 of mantissa.
function halfToFloat(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

function widen(halves) {
  const wide = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) wide[i] = halfToFloat(halves[i]);
  return wide;
}

// Returns {name: {data, shape}}.
async function unpackArrays(table, text) {
  const buffer = await inflate(text), arrays = {};
  for (const [name, [kind, shape, first]] of Object.entries(table)) {
    const count = shape.reduce((product, size) => product * size, 1);
    const data = new TYPES[kind](buffer, first, count);
    arrays[name] = { data: kind === "float16" ? widen(data) : data, shape };
  }
  return arrays;
}
