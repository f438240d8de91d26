// The drawing of the graph: WebGL2, everything uploaded once. What the slider, zoom and colours change is uniforms.
// While something moves, as many edges are drawn as frames have time for; once it is still, all of them.

// Milliseconds that a frame should take, 40 a second, and after which nothing moves any more.
const FRAME = 25, STILL = 160;
// Edges of which fewer are never drawn, and the parts into which a sample of them is dealt.
const FEWEST = 5000, PARTS = 32;

const EDGE_VERTEX = `#version 300 es
precision highp float;
in vec2 place;      // 0 to 1
in vec4 edge;       // when it comes in, difficulty, suspicion, fake: bytes, 0 to 1
uniform vec2 scale, shift;
uniform float now, latest, others, strength;
uniform int mode;
uniform vec3 ramp[9];
out vec4 colour;
void main() {
  bool isIn = edge.x <= now;
  float value = mode == 0 ? edge.y : mode == 1 ? edge.z : edge.w;
  int step = int(value * 7.999);
  vec3 hue = mix(ramp[step], ramp[step + 1], value * 8.0 - float(step));
  // What is most telling is drawn more strongly, and what has just come in most.
  float alpha = strength * (0.55 + 0.9 * abs(value - 0.5)) * (isIn && edge.x > latest ? 2.2 : 1.0) * (isIn ? 1.0 : others);
  colour = vec4(hue, min(alpha, 1.0));
  gl_Position = alpha > 0.0 ? vec4((place * 2.0 - 1.0) * scale + shift, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;
const EDGE_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
out vec4 pixel;
void main() { pixel = vec4(colour.rgb * colour.a, colour.a); }`;
const NODE_VERTEX = `#version 300 es
precision highp float;
in vec2 place;
in vec2 node;       // number of its colour, whether its class is wrong
uniform vec2 scale, shift;
uniform float size;
uniform vec3 kinds[11];
out vec3 hue;
flat out float wrong;
flat out float radius;
void main() {
  hue = kinds[int(node.x + 0.5)];
  wrong = node.y;
  radius = size * 0.5;
  gl_PointSize = size;
  gl_Position = vec4((place * 2.0 - 1.0) * scale + shift, 0.0, 1.0);
}`;
const NODE_FRAGMENT = `#version 300 es
precision mediump float;
in vec3 hue;
flat in float wrong;
flat in float radius;
uniform vec3 paper, ink;
out vec4 pixel;
void main() {
  float far = length(gl_PointCoord - 0.5) * 2.0 * radius;
  float alpha = clamp(radius - far + 0.5, 0.0, 1.0);
  float edge = clamp(far - radius + (wrong > 0.5 ? 2.0 : 1.2), 0.0, 1.0) * step(2.5, radius);
  vec3 colour = mix(hue, wrong > 0.5 ? ink : paper, edge);
  pixel = vec4(colour * alpha, alpha);
}`;
const FLAT_VERTEX = `#version 300 es
in vec2 place;
in vec4 hue;
out vec4 colour;
void main() { colour = hue; gl_Position = vec4(place, 0.0, 1.0); }`;

// A colour of the style sheet, as three numbers from 0 to 1.
function styleColour(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map(first => parseInt(text.slice(first, first + 2), 16) / 255);
}

class GraphView {
  // Throws where there is no WebGL2.
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.gl = canvas.getContext('webgl2', { antialias: false, alpha: false, powerPreference: 'high-performance' });
    if (!this.gl) throw new Error('no WebGL2');
    this.zoom = 1;
    this.middle = [0, 0];
    this.now = data.epochs.length ? data.epochs.length - 1 : 0;
    this.latest = -1;
    this.mode = 0;
    this.others = 0;
    this.frames = 0;
    this.atOnce = data.edgeCount;
    this.drawnAt = -Infinity;
    this.chosen = null;
    this.hovered = null;
    this.onchoose = () => {};
    this.onhover = () => {};
    this.upload();
    this.readColours();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  upload() {
    const { gl, data } = this;
    this.edgeProgram = this.program(EDGE_VERTEX, EDGE_FRAGMENT);
    this.nodeProgram = this.program(NODE_VERTEX, NODE_FRAGMENT);
    this.flatProgram = this.program(FLAT_VERTEX, EDGE_FRAGMENT);
    // Two ends of eight bytes for each edge: place, when it comes in, difficulty, suspicion, fake. The most suspicious last, on top.
    const bytes = new ArrayBuffer(data.edgeCount * 16);
    const shorts = new Uint16Array(bytes), single = new Uint8Array(bytes);
    for (let place = 0; place < data.edgeCount; place++) {
      const edge = data.edgeCount - 1 - place;
      for (let end = 0; end < 2; end++) {
        const node = data.ends[2 * edge + end], at = 2 * place + end;
        shorts[4 * at] = data.places[2 * node];
        shorts[4 * at + 1] = data.places[2 * node + 1];
        single[8 * at + 4] = data.entries[edge];
        single[8 * at + 5] = data.difficulty[edge];
        single[8 * at + 6] = data.suspicion[edge] >> 8;
        single[8 * at + 7] = data.fake[edge] * 255;
      }
    }
    this.edgeArray = this.array(bytes, this.edgeProgram, 8, [['place', 2, gl.UNSIGNED_SHORT, true, 0], ['edge', 4, gl.UNSIGNED_BYTE, true, 4]]);
    // The edges dealt into parts, so that the first of them are a fair sample.
    const dealt = new Uint32Array(2 * data.edgeCount);
    let next = 0;
    for (let part = 0; part < PARTS; part++) {
      for (let place = part; place < data.edgeCount; place += PARTS) {
        dealt[next++] = 2 * place;
        dealt[next++] = 2 * place + 1;
      }
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, dealt, gl.STATIC_DRAW);
    const nodes = new ArrayBuffer(data.nodeCount * 8);
    const nodeShorts = new Uint16Array(nodes), nodeBytes = new Uint8Array(nodes);
    for (let node = 0; node < data.nodeCount; node++) {
      nodeShorts[4 * node] = data.places[2 * node];
      nodeShorts[4 * node + 1] = data.places[2 * node + 1];
      nodeBytes[8 * node + 4] = data.predicted[node] === data.NONE ? 10 : data.predicted[node] % 10;
      nodeBytes[8 * node + 5] = data.isWrong(node) ? 1 : 0;
    }
    this.nodeArray = this.array(nodes, this.nodeProgram, 8, [['place', 2, gl.UNSIGNED_SHORT, true, 0], ['node', 2, gl.UNSIGNED_BYTE, false, 4]]);
    this.flatBuffer = gl.createBuffer();
    this.flatArray = this.array(null, this.flatProgram, 24, [['place', 2, gl.FLOAT, false, 0], ['hue', 4, gl.FLOAT, false, 8]], this.flatBuffer);
  }

  program(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? 'shader');
    const uniforms = {};
    for (let place = 0; place < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); place++) {
      const name = gl.getActiveUniform(program, place).name;
      uniforms[name.replace('[0]', '')] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  array(bytes, { program }, stride, attributes, buffer = this.gl.createBuffer()) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    if (bytes) gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    for (const [name, size, kind, normalised, offset] of attributes) {
      const location = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, kind, normalised, stride, offset);
    }
    return array;
  }

  readColours() {
    this.colours = {
      paper: styleColour('--paper'), ink: styleColour('--text'),
      ramp: new Float32Array([...Array(9).keys()].flatMap(step => styleColour('--d' + step))),
      kinds: new Float32Array([...[...Array(10).keys()].map(kind => '--k' + kind), '--faint'].flatMap(styleColour)),
    };
    this.redraw();
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!width || !height) return;
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.redraw();
  }

  // From places, −1 to 1, to the screen, −1 to 1.
  get scale() {
    const { width, height } = this.canvas;
    const fit = 0.94 * this.zoom;
    return width > height ? [fit * height / width, fit] : [fit, fit * width / height];
  }

  get shift() {
    const [x, y] = this.scale;
    return [-this.middle[0] * x, -this.middle[1] * y];
  }

  placeOf(node) {
    const { places } = this.data;
    return [places[2 * node] / 32767.5 - 1, places[2 * node + 1] / 32767.5 - 1];
  }

  // A node on the screen, in CSS pixels.
  pixelOf(node) {
    const [x, y] = this.placeOf(node), [a, b] = this.scale, [c, d] = this.shift;
    return [(x * a + c + 1) / 2 * this.canvas.clientWidth, (1 - y * b - d) / 2 * this.canvas.clientHeight];
  }

  get nodeSize() {
    const base = Math.min(13, Math.max(3, 190 / Math.sqrt(this.data.nodeCount)));
    return Math.min(22, base * Math.sqrt(this.zoom)) * this.ratio;
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    const moves = performance.now() - this.drawnAt < STILL;
    requestAnimationFrame(now => {
      this.waiting = false;
      if (moves) this.keepPace(now - this.drawnAt);
      this.drawnAt = now;
      this.draw(this.atOnce);
      clearTimeout(this.whole);
      if (this.atOnce < this.data.edgeCount) this.whole = setTimeout(() => requestAnimationFrame(() => this.draw(this.data.edgeCount)), STILL);
    });
  }

  // More or fewer edges in the next frame, by how long the latest took.
  keepPace(took) {
    const factor = Math.min(1.15, Math.max(0.5, FRAME / took));
    this.atOnce = Math.round(Math.min(this.data.edgeCount, Math.max(FEWEST, this.atOnce * factor)));
  }

  draw(edges) {
    const { gl, data, colours } = this;
    if (!this.ratio || !colours) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...colours.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

    const dimmed = this.chosen ? 0.35 : 1;
    const strength = Math.min(0.9, Math.max(0.07, 22 / Math.sqrt(edges)) * Math.sqrt(this.zoom)) * dimmed;
    let { program, uniforms } = this.edgeProgram;
    gl.useProgram(program);
    gl.uniform2fv(uniforms.scale, this.scale);
    gl.uniform2fv(uniforms.shift, this.shift);
    gl.uniform1f(uniforms.now, (this.now + 0.5) / 255);
    gl.uniform1f(uniforms.latest, (this.latest + 0.5) / 255);
    gl.uniform1f(uniforms.others, this.others);
    gl.uniform1f(uniforms.strength, strength);
    gl.uniform1i(uniforms.mode, this.mode);
    gl.uniform3fv(uniforms.ramp, colours.ramp);
    gl.bindVertexArray(this.edgeArray);
    if (edges >= data.edgeCount) gl.drawArrays(gl.LINES, 0, 2 * data.edgeCount);
    else gl.drawElements(gl.LINES, 2 * edges, gl.UNSIGNED_INT, 0);

    this.drawChosen();

    ({ program, uniforms } = this.nodeProgram);
    gl.useProgram(program);
    gl.uniform2fv(uniforms.scale, this.scale);
    gl.uniform2fv(uniforms.shift, this.shift);
    gl.uniform1f(uniforms.size, this.nodeSize);
    gl.uniform3fv(uniforms.kinds, colours.kinds);
    gl.uniform3fv(uniforms.paper, colours.paper);
    gl.uniform3fv(uniforms.ink, colours.ink);
    gl.bindVertexArray(this.nodeArray);
    gl.drawArrays(gl.POINTS, 0, data.nodeCount);
    this.canvas.dataset.frames = ++this.frames;
    this.canvas.dataset.edges = edges;
  }

  // The chosen edge, or the edges of the chosen or hovered node, thick; rings around their nodes.
  drawChosen() {
    const { gl, data } = this;
    const shown = this.chosen ?? this.hovered;
    if (!shown) return;
    const edges = 'edge' in shown ? [shown.edge] : data.edgesOf(shown.node);
    const numbers = [];
    const [width, height] = [this.canvas.width, this.canvas.height];
    const [a, b] = this.scale, [c, d] = this.shift;
    const screen = node => { const [x, y] = this.placeOf(node); return [(x * a + c) * width / 2, (y * b + d) * height / 2]; };
    const put = (x, y, colour) => numbers.push(2 * x / width, 2 * y / height, ...colour);
    const value = edge => [data.difficulty[edge] / 255, data.suspicion[edge] / 65535, data.fake[edge]][this.mode];
    for (const edge of edges) {
      const [p, q] = [screen(data.ends[2 * edge]), screen(data.ends[2 * edge + 1])];
      const length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
      const half = ('edge' in shown ? 2 : 1.1) * this.ratio;
      const [x, y] = [-(q[1] - p[1]) / length * half, (q[0] - p[0]) / length * half];
      const step = Math.round(value(edge) * 8);
      const colour = [...this.colours.ramp.subarray(3 * step, 3 * step + 3), this.chosen ? 0.95 : 0.7];
      for (const [at, sign] of [[p, 1], [p, -1], [q, 1], [q, 1], [p, -1], [q, -1]]) put(at[0] + sign * x, at[1] + sign * y, colour);
    }
    const nodes = 'edge' in shown ? [data.ends[2 * shown.edge], data.ends[2 * shown.edge + 1]] : [shown.node];
    for (const node of nodes) {
      const [x, y] = screen(node), far = this.nodeSize / 2 + 3 * this.ratio;
      for (let corner = 0; corner < 24; corner++) {
        for (const turn of [corner, corner + 1]) put(x + far * Math.cos(turn * Math.PI / 12), y + far * Math.sin(turn * Math.PI / 12), [...this.colours.ink, 1]);
        put(x, y, [...this.colours.ink, 1]);
      }
    }
    gl.useProgram(this.flatProgram.program);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flatBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.DYNAMIC_DRAW);
    gl.bindVertexArray(this.flatArray);
    gl.drawArrays(gl.TRIANGLES, 0, numbers.length / 6);
  }

  setTime(step, latest) {
    this.now = step;
    this.latest = latest;
    this.redraw();
  }

  choose(what, move) {
    this.chosen = what;
    if (what && move) {
      const nodes = 'edge' in what ? [this.data.ends[2 * what.edge], this.data.ends[2 * what.edge + 1]] : [what.node];
      const places = nodes.map(node => this.placeOf(node));
      const far = places.length > 1 ? Math.hypot(places[0][0] - places[1][0], places[0][1] - places[1][1]) : 0.15;
      this.zoom = Math.min(12, Math.max(1.5, 0.9 / Math.max(far, 0.04)));
      this.middle = [0, 1].map(axis => places.reduce((sum, place) => sum + place[axis], 0) / places.length);
    }
    this.canvas.dataset.chosen = what ? JSON.stringify(what) : '';
    this.redraw();
  }

  // What is at a place of the canvas, in CSS pixels: a node, or else an edge that is in, or nothing.
  at(x, y) {
    const { data } = this;
    let best = Math.max(9, this.nodeSize / this.ratio / 2 + 3) ** 2, found = null;
    for (let node = 0; node < data.nodeCount; node++) {
      const [a, b] = this.pixelOf(node);
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < best) [best, found] = [far, { node }];
    }
    return found;
  }

  edgeAt(x, y) {
    const { data } = this;
    let best = 4, found = null;
    for (let edge = 0; edge < data.edgeCount; edge++) {
      if (data.entries[edge] > this.now && !this.others) continue;
      const p = this.pixelOf(data.ends[2 * edge]), q = this.pixelOf(data.ends[2 * edge + 1]);
      const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
      const along = Math.min(1, Math.max(0, ((x - p[0]) * dx + (y - p[1]) * dy) / (dx * dx + dy * dy || 1)));
      const far = Math.hypot(p[0] + along * dx - x, p[1] + along * dy - y);
      if (far < best) [best, found] = [far, { edge }];
    }
    return found;
  }

  zoomBy(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const before = this.toPlace(x, y);
    this.zoom = Math.min(200, Math.max(0.5, this.zoom * factor));
    const after = this.toPlace(x, y);
    this.middle = [this.middle[0] + before[0] - after[0], this.middle[1] + before[1] - after[1]];
    this.redraw();
  }

  toPlace(x, y) {
    const [a, b] = this.scale, [c, d] = this.shift;
    return [((2 * x / this.canvas.clientWidth - 1) - c) / a, ((1 - 2 * y / this.canvas.clientHeight) - d) / b];
  }

  showAll() {
    [this.zoom, this.middle] = [1, [0, 0]];
    this.redraw();
  }

  listen() {
    const { canvas } = this;
    const pointers = new Map();
    let moved = 0;
    const place = event => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      moved = 0;
    });
    canvas.addEventListener('pointermove', event => {
      const [x, y] = place(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        this.hover(this.at(x, y), x, y);
        return;
      }
      if (pointers.size === 1) {
        const [p, q] = [this.toPlace(...before), this.toPlace(x, y)];
        this.middle = [this.middle[0] + p[0] - q[0], this.middle[1] + p[1] - q[1]];
      } else {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const far = Math.hypot(x - other[0], y - other[1]), was = Math.hypot(before[0] - other[0], before[1] - other[1]);
        if (was > 0) this.zoomBy(far / was, (x + other[0]) / 2, (y + other[1]) / 2);
      }
      moved += Math.hypot(x - before[0], y - before[1]);
      if (moved > 4) canvas.classList.add('dragging');
      pointers.set(event.pointerId, [x, y]);
      this.redraw();
    });
    const up = event => {
      const at = pointers.get(event.pointerId);
      pointers.delete(event.pointerId);
      canvas.classList.remove('dragging');
      if (event.type === 'pointerup' && at && moved <= 4) this.onchoose(this.at(...at) ?? this.edgeAt(...at));
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => this.hover(null));
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
    }, { passive: false });
    canvas.addEventListener('keydown', event => {
      const step = 0.15 / this.zoom;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[event.key]) this.middle = [0, 1].map(axis => this.middle[axis] + moves[event.key][axis]);
      else if (event.key === '+' || event.key === '=') this.zoomBy(1.3);
      else if (event.key === '-') this.zoomBy(1 / 1.3);
      else if (event.key === '0') this.showAll();
      else if (event.key === 'Escape') this.onchoose(null);
      else return;
      event.preventDefault();
      this.redraw();
    });
  }

  hover(what, x, y) {
    if (what?.node !== this.hovered?.node) this.redraw();
    this.hovered = what;
    this.canvas.classList.toggle('pointing', Boolean(what));
    this.onhover(what, x, y);
  }
}
