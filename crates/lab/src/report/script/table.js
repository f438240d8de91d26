// The table of edges: sorted, searched, a page at a time.

const ROWS = 25;

class EdgeTable {
  constructor(data, onchoose) {
    this.data = data;
    this.onchoose = onchoose;
    this.page = 0;
    this.chosen = null;
    const { ends, suspicion, difficulty, weights, entries } = data;
    const name = end => edge => data.nameOf(ends[2 * edge + end]);
    const isNumber = !data.names.length;
    const byName = end => isNumber ? edge => data.nodes[ends[2 * edge + end]] : name(end);
    this.columns = [
      { name: 'from', value: byName(0), text: name(0) },
      { name: 'to', value: byName(1), text: name(1) },
      { name: 'suspicion', value: edge => suspicion[edge], text: edge => (suspicion[edge] / 65535).toFixed(4), number: true },
      { name: 'why', value: edge => Math.max(...data.reasons.subarray(3 * edge, 3 * edge + 3)), cell: edge => whyBars(data, edge) },
      { name: 'difficulty', value: edge => difficulty[edge], text: edge => (difficulty[edge] / 255).toFixed(2), number: true },
      { name: 'in from epoch', value: edge => entries[edge], text: edge => data.epochOf(edge) ?? 'never', number: true },
      { name: 'weight', value: edge => weights[edge], text: edge => weights[edge].toFixed(3), number: true },
      { name: 'classes', value: edge => this.classes(edge), text: edge => this.classes(edge) },
    ];
    if (data.has_fakes) this.columns.push({ name: 'fake', value: edge => data.fake[edge], text: edge => data.fake[edge] ? 'fake' : '', style: 'fake' });
    this.table = byId('edge-table');
    this.order = Uint32Array.from({ length: data.edgeCount }, (_, edge) => edge);
    this.shown = this.order;
    this.sorted = { column: 2, falling: true };
    this.drawHead();
    byId('search').addEventListener('input', event => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(event.target.value), 120);
    });
    byId('before').addEventListener('click', () => this.turn(-1));
    byId('after').addEventListener('click', () => this.turn(1));
    this.draw();
  }

  classes(edge) {
    const { ends, predicted, classOf } = this.data;
    return `${classOf(predicted[ends[2 * edge]])} – ${classOf(predicted[ends[2 * edge + 1]])}`;
  }

  drawHead() {
    const row = make('tr');
    this.columns.forEach((column, place) => {
      const sort = this.sorted.column === place ? (this.sorted.falling ? 'descending' : 'ascending') : null;
      const button = make('button', { type: 'button', onclick: () => this.sortBy(place) }, column.name);
      row.append(make('th', { class: column.number ? 'number' : null, 'aria-sort': sort, scope: 'col' }, button));
    });
    this.table.tHead.replaceChildren(row);
  }

  sortBy(place) {
    const again = this.sorted.column === place;
    const falling = again ? !this.sorted.falling : Boolean(this.columns[place].number || this.columns[place].cell || this.columns[place].style);
    this.sorted = { column: place, falling };
    const values = Array.from({ length: this.data.edgeCount }, (_, edge) => this.columns[place].value(edge));
    const collator = new Intl.Collator(undefined, { numeric: true });
    const compare = typeof values[0] === 'number' ? (a, b) => values[a] - values[b] : (a, b) => collator.compare(values[a], values[b]);
    const sign = falling ? -1 : 1;
    this.order = Uint32Array.from({ length: this.data.edgeCount }, (_, edge) => edge).sort((a, b) => sign * compare(a, b) || a - b);
    this.drawHead();
    this.search(byId('search').value);
  }

  search(text) {
    const { data } = this;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) {
      this.texts ??= Array.from({ length: data.nodeCount }, (_, node) =>
        `${data.nameOf(node)} ${data.nodes[node]} ${data.classOf(data.predicted[node])}`.toLowerCase());
      this.shown = this.order.filter(edge => {
        const own = `${this.texts[data.ends[2 * edge]]} ${this.texts[data.ends[2 * edge + 1]]}${data.fake[edge] ? ' fake' : ''}`;
        return words.every(word => own.includes(word));
      });
    } else {
      this.shown = this.order;
    }
    this.page = 0;
    this.draw();
  }

  turn(by) {
    this.page += by;
    this.draw();
  }

  choose(edge) {
    this.chosen = edge;
    for (const row of this.table.tBodies[0].rows) row.classList.toggle('chosen', Number(row.dataset.edge) === edge);
  }

  draw() {
    const pages = Math.max(1, Math.ceil(this.shown.length / ROWS));
    this.page = Math.min(Math.max(0, this.page), pages - 1);
    const rows = Array.from(this.shown.subarray(this.page * ROWS, (this.page + 1) * ROWS), edge => {
      const row = make('tr', { 'data-edge': edge, tabindex: '0', class: edge === this.chosen ? 'chosen' : null });
      for (const column of this.columns) {
        const content = column.cell ? column.cell(edge) : String(column.text(edge));
        row.append(make('td', { class: [column.number && 'number', column.style].filter(Boolean).join(' ') || null }, content));
      }
      row.addEventListener('click', () => this.onchoose({ edge }));
      row.addEventListener('keydown', event => { if (event.key === 'Enter') this.onchoose({ edge }); });
      return row;
    });
    this.table.tBodies[0].replaceChildren(...rows);
    byId('matches').textContent = `${thousands(this.shown.length)} of ${thousands(this.data.edgeCount)} edges`;
    byId('page').textContent = `page ${thousands(this.page + 1)} of ${thousands(pages)}`;
    byId('before').disabled = this.page === 0;
    byId('after').disabled = this.page === pages - 1;
  }
}

const REASONS = ['agreement', 'features', 'neighbourhood'];

// Three small bars: how suspicious an edge is in each way.
function whyBars(data, edge) {
  const bars = make('span', { class: 'why', role: 'img' });
  const parts = REASONS.map((name, place) => {
    const rank = share(data.reasons[3 * edge + place]);
    const bar = make('b', { class: `why-${place}` });
    bar.style.height = `${Math.round(rank * 18)}px`;
    bars.append(bar);
    return `${name} ${Math.round(100 * rank)} %`;
  });
  bars.title = parts.join(', ');
  bars.setAttribute('aria-label', bars.title);
  return bars;
}
