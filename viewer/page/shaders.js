// The programs of the graphics card. Light is added up linearly and shown with a soft shoulder and gamma 2.
// What a pixel of the floor costs decides how fast a machine without a graphics card is.

const COMMON = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
const vec3 SUN = vec3(-0.36, -0.48, 0.80);
const vec3 SUN_LIGHT = vec3(1.85, 1.70, 1.48);
const vec3 ZENITH = vec3(0.16, 0.36, 0.72);
const vec3 HORIZON = vec3(0.74, 0.84, 0.93);
const vec3 GROUND = vec3(0.40, 0.39, 0.38);

vec3 sky(vec3 direction) {
  return mix(HORIZON, ZENITH, sqrt(clamp(direction.z, 0.0, 1.0)));
}

vec3 shown(vec3 light) {
  vec3 over = max(light - 0.6, 0.0);
  return sqrt(min(light, 0.6) + 0.4 * over / (0.4 + over));
}
`;

const CHECKER = `
// 0 and 1 by turns on squares of side 1, averaged over the pixel.
float checker(vec2 p) {
  vec2 wide = max(fwidth(p), 1e-4);
  vec2 wave = 2.0 * (abs(fract((p - 0.5 * wide) * 0.5) - 0.5) - abs(fract((p + 0.5 * wide) * 0.5) - 0.5)) / wide;
  return 0.5 - 0.5 * wave.x * wave.y;
}
`;

const SHADOWS = `
uniform sampler2DShadow shadowMap;
uniform mat4 sunMatrix;
uniform float shadowSpan;  // m, the side of what the map shows
uniform int shadowTaps;
uniform vec4 bodies;  // a sphere around all that throws shadows, m

float sunlight(vec3 point, vec3 normal) {
  if (length(cross(point - bodies.xyz, SUN)) > bodies.w) return 1.0;
  float texel = 1.0 / float(textureSize(shadowMap, 0).x);
  vec3 raised = point + normal * shadowSpan * texel * 1.6;
  vec3 seen = (sunMatrix * vec4(raised, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(seen, vec3(0.0))) || any(greaterThan(seen, vec3(1.0)))) return 1.0;
  float light = 0.0;
  for (int i = 0; i < shadowTaps; i++) {
    float angle = 2.39996 * float(i), radius = sqrt((float(i) + 0.5) / float(shadowTaps)) * 2.6 * texel;
    light += texture(shadowMap, vec3(seen.xy + radius * vec2(cos(angle), sin(angle)), seen.z - 0.0006));
  }
  return light / float(shadowTaps);
}
`;

const PLACED = `
layout(location = 0) in vec3 vertex;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 position;
layout(location = 3) in vec4 turn;  // quaternion, w first
layout(location = 4) in vec4 paint;
layout(location = 5) in float size;  // times that of the surface

vec3 turned(vec3 v) {
  vec3 t = 2.0 * cross(turn.yzw, v);
  return v + turn.x * t + cross(turn.yzw, t);
}
`;

const SOLID_VERTEX = COMMON + PLACED + `
uniform mat4 camera;
out vec3 point, outward;
out vec4 color;
void main() {
  point = position + turned(size * vertex);
  outward = turned(normal);
  color = paint;
  gl_Position = camera * vec4(point, 1.0);
}`;

const SOLID_FRAGMENT = COMMON + CHECKER + SHADOWS + `
uniform vec3 eye;
uniform float cell;  // m, of a checker over ground; 0: plain
in vec3 point, outward;
in vec4 color;
out vec4 pixel;
void main() {
  vec3 n = normalize(outward), toEye = normalize(eye - point);
  if (dot(n, toEye) < 0.0 && !gl_FrontFacing) n = -n;
  vec3 albedo = color.rgb * color.rgb;
  float tile = checker(point.xy / max(cell, 1e-6));
  if (cell > 0.0) albedo *= mix(1.0, 0.78, tile * step(0.3, n.z));
  float facing = dot(n, SUN);
  float sun = facing > 0.0 ? facing * sunlight(point, n) : 0.0;
  float up = 0.5 + 0.5 * n.z;
  vec3 ambient = mix(GROUND * 0.55, mix(HORIZON, ZENITH, 0.45) * 0.85, up);
  vec3 light = albedo * (SUN_LIGHT * sun * 0.62 + ambient);
  vec3 half_way = normalize(SUN + toEye);
  float glint = pow(max(dot(n, half_way), 0.0), 42.0) * 0.22;
  float rim = pow(1.0 - max(dot(n, toEye), 0.0), 4.0) * 0.16;
  light += SUN_LIGHT * glint * step(0.0, facing) * min(sun * 2.0, 1.0) + sky(reflect(-toEye, n)) * rim * (0.3 + 0.7 * up);
  pixel = vec4(shown(light), color.a);
}`;

const DEPTH_VERTEX = COMMON + PLACED + `
uniform mat4 camera;
void main() { gl_Position = camera * vec4(position + turned(size * vertex), 1.0); }`;

const DEPTH_FRAGMENT = COMMON + "void main() {}";

const FLOOR_VERTEX = COMMON + `
layout(location = 0) in vec3 vertex;
uniform mat4 camera;
uniform mat4 place;
uniform vec2 shift;
uniform float reach;
out vec3 point;
out vec2 along;
void main() {
  along = shift + vertex.xy * reach;
  point = (place * vec4(along, 0.0, 1.0)).xyz;
  gl_Position = camera * vec4(point, 1.0);
}`;

// A checker, averaged over the pixel; lit by sun and sky; it fades into the horizon.
const FLOOR_FRAGMENT = COMMON + CHECKER + SHADOWS + `
uniform sampler2D below;     // depths of what stands above the floor, seen from below
uniform mat4 belowMatrix;
uniform vec4 belowSpan;      // side (m), depth (m), 1 if there is such a picture, reach of the dimming (m)
uniform vec3 eye, upward;
uniform vec3 one, two;  // colors of the checker, linear
uniform float cell, fade;
in vec3 point;
in vec2 along;
out vec4 pixel;

float openness() {
  if (belowSpan.z < 0.5 || length(point.xy - bodies.xy) > bodies.w + belowSpan.w) return 1.0;
  vec2 seen = (belowMatrix * vec4(point, 1.0)).xy * 0.5 + 0.5;
  if (any(lessThan(seen, vec2(0.0))) || any(greaterThan(seen, vec2(1.0)))) return 1.0;
  float dark = 0.0;
  for (int i = 0; i < 16; i++) {
    float angle = 2.39996 * float(i), radius = sqrt((float(i) + 0.5) / 16.0) * belowSpan.w / belowSpan.x;
    float height = (texture(below, seen + radius * vec2(cos(angle), sin(angle))).r - 0.5) * 2.0 * belowSpan.y;
    dark += height < belowSpan.y * 0.98 ? exp(-max(height, 0.0) / (0.6 * belowSpan.w)) : 0.0;
  }
  return 1.0 - 0.62 * dark / 16.0;
}

void main() {
  vec3 toEye = eye - point;
  float away = length(toEye);
  vec3 albedo = mix(one, two, checker(along / cell));
  float sun = max(dot(upward, SUN), 0.0) * sunlight(point, upward);
  float open = openness();
  vec3 light = albedo * (SUN_LIGHT * sun * 0.46 * mix(open, 1.0, 0.35) + mix(HORIZON, ZENITH, 0.35) * 0.46 * open);
  float far = away / fade, near = 1.0 / (1.0 + far * far * (1.0 + 0.3 * far * far));
  float grazing = 1.0 - abs(dot(toEye, upward)) / away;
  light = mix(light, HORIZON, 0.26 * grazing * grazing * grazing);
  pixel = vec4(shown(mix(HORIZON, light, near)), 1.0);
}`;

const SKY_VERTEX = COMMON + `
layout(location = 0) in vec3 vertex;
uniform mat4 outward;  // from the picture to the world
out vec3 ray;
void main() {
  vec4 far = outward * vec4(vertex.xy, 1.0, 1.0);
  ray = far.xyz / far.w;
  gl_Position = vec4(vertex.xy, 0.99999, 1.0);
}`;

const SKY_FRAGMENT = COMMON + `
uniform vec3 eye;
in vec3 ray;
out vec4 pixel;
void main() {
  vec3 direction = normalize(ray - eye);
  vec3 light = sky(direction);
  float glow = max(dot(direction, SUN), 0.0);
  light += vec3(1.0, 0.9, 0.7) * (0.10 * pow(glow, 8.0) + 0.25 * pow(glow, 180.0));
  pixel = vec4(shown(light), 1.0);
}`;
