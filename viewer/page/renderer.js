// Draws instances of surfaces, floors and a sky with WebGL2, with two pictures of depth made before: one from the sun,
// for shadows, and one from below, which tells the floor how near bodies are above it.

const SHADOW_SIZE = 2048, BELOW_SIZE = 512;
const INSTANCE = 12; // floats: position 3, quaternion 4, color 4, scale

// True on machines without a graphics card, which smooth edges too slowly.
function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const told = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : "";
  if (gl) gl.getExtension("WEBGL_lose_context").loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

class Renderer {
  // surfaces: [{vertices, normals, faces}] of typed arrays.
  constructor(canvas, surfaces) {
    this.software = drawnBySoftware();
    const gl = canvas.getContext("webgl2", { antialias: !this.software, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL2, which draws the replay");
    this.canvas = canvas;
    this.gl = gl;
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT);
    this.depth = this.program(DEPTH_VERTEX, DEPTH_FRAGMENT);
    this.floor = this.program(FLOOR_VERTEX, FLOOR_FRAGMENT);
    this.sky = this.program(SKY_VERTEX, SKY_FRAGMENT);
    this.instances = gl.createBuffer();
    this.meshes = surfaces.map((surface) => this.mesh(surface));
    this.square = this.squareMesh();
    this.shadow = this.depthPicture(SHADOW_SIZE, true);
    this.below = this.depthPicture(BELOW_SIZE, false);
    this.shadowTaps = this.software ? 6 : 12;
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(program, i).name;
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
  }

  buffer(target, data) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(target, buffer);
    this.gl.bufferData(target, data, this.gl.STATIC_DRAW);
  }

  mesh({ vertices, normals, faces }) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(gl.ARRAY_BUFFER, vertices);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    this.buffer(gl.ARRAY_BUFFER, normals);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 3, gl.BYTE, true, 0, 0);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, faces);
    for (const place of [2, 3, 4, 5]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribDivisor(place, 1);
    }
    const kind = faces instanceof Uint16Array ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT;
    return { array, kind, count: faces.length };
  }

  squareMesh() {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]));
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    return array;
  }

  // A picture of depths alone; `compared`: its texture answers whether a depth lies before it.
  depthPicture(size, compared) {
    const gl = this.gl, texture = gl.createTexture(), frame = gl.createFramebuffer();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    const filter = compared ? gl.LINEAR : gl.NEAREST;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    if (compared) {
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { frame, texture, size };
  }

  // groups: [{surface, first, count, clear, ground}] of rows of `data`; `clear` groups let light through and are drawn
  // last; those with `ground` have a checker with fields so wide (m).
  // bodies: a sphere around all instances, center and radius: nothing beyond its shadow needs a look at the depths.
  place(data, groups, bodies) {
    const gl = this.gl;
    this.groups = groups;
    this.bodies = bodies;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  }

  drawGroups(clear, cell) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    for (const [number, group] of this.groups.entries()) {
      if (group.clear !== clear || !group.count) continue;
      gl.polygonOffset(0, -160 * (number % 4)); // where surfaces coincide, one of them wins everywhere
      gl.uniform1f(cell || null, group.ground || 0);
      const mesh = this.meshes[group.surface], stride = 4 * INSTANCE, first = stride * group.first;
      gl.bindVertexArray(mesh.array);
      gl.vertexAttribPointer(2, 3, gl.FLOAT, false, stride, first);
      gl.vertexAttribPointer(3, 4, gl.FLOAT, false, stride, first + 12);
      gl.vertexAttribPointer(4, 4, gl.FLOAT, false, stride, first + 28);
      gl.vertexAttribPointer(5, 1, gl.FLOAT, false, stride, first + 44);
      gl.drawElementsInstanced(gl.TRIANGLES, mesh.count, mesh.kind, 0, group.count);
    }
  }

  drawDepths(picture, matrix) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, picture.frame);
    gl.viewport(0, 0, picture.size, picture.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.depth.program);
    gl.uniformMatrix4fv(this.depth.places.camera, false, matrix);
    this.drawGroups(false);
  }

  // World to the sun's picture: a square of `half` about `middle`, moved by whole texels so that edges stand still.
  sunMatrix(middle, half) {
    const sun = [-0.36, -0.48, 0.8], view = lookAt(sun, [0, 0, 0], [0, 0, 1]), texel = (2 * half) / SHADOW_SIZE;
    for (const axis of [0, 1, 2]) {
      const along = view[axis] * middle[0] + view[4 + axis] * middle[1] + view[8 + axis] * middle[2];
      view[12 + axis] = -Math.round(along / texel) * texel;
    }
    return multiply(orthographic(half, 4 * half), view);
  }

  // view: {eye, target, fovy, distance}; floors: [{position, turn, one, two, cell}], turn a matrix by columns.
  draw(view, floors) {
    const gl = this.gl, { width, height } = this.canvas;
    const half = Math.max(1.15 * view.span, 1e-3), depth = half;
    const sun = this.sunMatrix(view.target, half);
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    this.drawDepths(this.shadow, sun);
    const ground = floors.find((floor) => floor.turn[2][2] > 0.999);
    let below = null;
    if (ground) {
      const from = [view.target[0], view.target[1], ground.position[2]];
      below = multiply(orthographic(half, depth), lookAt(from, add(from, [0, 0, 1]), [0, 1, 0]));
      this.drawDepths(this.below, below);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const near = 0.02 * view.distance, far = 80 * view.distance;
    const look = lookAt(view.eye, view.target, [0, 0, 1]);
    const camera = multiply(perspective(view.fovy, width / height, near, far, view.lift), look);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.below.texture);
    this.drawSolids(false, camera, view, sun, half);
    for (const floor of floors) this.drawFloor(floor, camera, view, sun, half, floor === ground ? below : null, depth, far);
    this.drawSky(camera, view);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.drawSolids(true, camera, view, sun, half);
    gl.depthMask(true);
  }

  useShadows(program, sun, half) {
    const gl = this.gl;
    gl.uniform1i(program.places.shadowMap, 0);
    gl.uniformMatrix4fv(program.places.sunMatrix, false, sun);
    gl.uniform1f(program.places.shadowSpan, 2 * half);
    gl.uniform1i(program.places.shadowTaps, this.shadowTaps);
    gl.uniform4fv(program.places.bodies, this.bodies);
  }

  drawSolids(clear, camera, view, sun, half) {
    const gl = this.gl;
    gl.useProgram(this.solid.program);
    gl.uniformMatrix4fv(this.solid.places.camera, false, camera);
    gl.uniform3fv(this.solid.places.eye, view.eye);
    this.useShadows(this.solid, sun, half);
    this.drawGroups(clear, this.solid.places.cell);
    gl.polygonOffset(0, 0);
  }

  drawFloor(floor, camera, view, sun, half, below, depth, far) {
    const gl = this.gl, { program, places } = this.floor, [x, y, z] = floor.turn;
    const p = floor.position, step = 2 * floor.cell, away = sub(view.target, p);
    gl.useProgram(program);
    gl.uniformMatrix4fv(places.camera, false, camera);
    gl.uniformMatrix4fv(places.place, false, [...x, 0, ...y, 0, ...z, 0, ...p, 1]);
    gl.uniform2f(places.shift, Math.round(dot(away, x) / step) * step, Math.round(dot(away, y) / step) * step);
    gl.uniform1f(places.reach, 0.6 * far);
    gl.uniform3fv(places.eye, view.eye);
    gl.uniform3fv(places.upward, z);
    gl.uniform3fv(places.one, floor.one.map((c) => c * c));
    gl.uniform3fv(places.two, floor.two.map((c) => c * c));
    gl.uniform1f(places.cell, floor.cell);
    gl.uniform1f(places.fade, 7 * view.distance);
    gl.uniform1i(places.below, 1);
    gl.uniformMatrix4fv(places.belowMatrix, false, below || new Float32Array(16));
    gl.uniform4f(places.belowSpan, 2 * half, depth, below ? 1 : 0, view.dimming);
    this.useShadows(this.floor, sun, half);
    gl.bindVertexArray(this.square);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  drawSky(camera, view) {
    const gl = this.gl, { program, places } = this.sky;
    gl.useProgram(program);
    gl.uniformMatrix4fv(places.outward, false, invert(camera));
    gl.uniform3fv(places.eye, view.eye);
    gl.bindVertexArray(this.square);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}
