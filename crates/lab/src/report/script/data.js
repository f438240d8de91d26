// What is drawn and told, out of the block of bytes in the page: see drawing.rs for its form.

function readData() {
  const element = document.getElementById('data');
  if (!element) return null;
  const text = element.textContent.trim();
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  element.remove();
  const headLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headLength)));
  const kinds = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
  for (const [name, [kind, first, length]] of Object.entries(data.arrays)) {
    data[name] = new kinds[kind](bytes.buffer, bytes.byteOffset + 4 + headLength + first, length);
  }
  data.nodeCount = data.nodes.length;
  data.edgeCount = data.entries.length;
  data.NONE = 65535;
  data.nameOf = node => data.names.length ? data.names[node] : String(data.nodes[node]);
  data.classOf = number => number === data.NONE ? '–' : data.classes[number] ?? String(number);
  data.setOf = node => ['in no set', 'training', 'validation', 'test'][data.sets[node]];
  data.otherEnd = (edge, node) => data.ends[2 * edge] === node ? data.ends[2 * edge + 1] : data.ends[2 * edge];
  data.epochOf = edge => data.entries[edge] === 255 ? null : data.epochs[data.entries[edge]];
  data.isWrong = node => data.labels[node] !== data.NONE && data.predicted[node] !== data.NONE && data.labels[node] !== data.predicted[node];
  data.edgesOf = edgesOfNodes(data);
  return data;
}

// The edges of each node, in rows; the most suspicious first, as edges are.
function edgesOfNodes(data) {
  const first = new Uint32Array(data.nodeCount + 1);
  for (const node of data.ends) first[node + 1]++;
  for (let node = 0; node < data.nodeCount; node++) first[node + 1] += first[node];
  const next = first.slice();
  const edges = new Uint32Array(data.ends.length);
  for (let place = 0; place < data.ends.length; place++) edges[next[data.ends[place]]++] = place >> 1;
  return node => edges.subarray(first[node], first[node + 1]);
}

// An element with text and children; text is never read as HTML.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'onclick') element.addEventListener('click', value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

const byId = id => document.getElementById(id);
const share = (byte, most = 255) => byte / most;
const thousands = number => String(number).replace(/\B(?=(\d{3})+$)/g, '\u00a0');
