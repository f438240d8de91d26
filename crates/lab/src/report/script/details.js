// What is told of the chosen node or edge.

class Details {
  constructor(data, onchoose) {
    this.data = data;
    this.onchoose = onchoose;
    this.box = byId('details');
    this.hint = this.box.firstElementChild;
  }

  show(what) {
    if (!what) this.box.replaceChildren(this.hint);
    else if ('edge' in what) this.box.replaceChildren(this.ofEdge(what.edge));
    else this.box.replaceChildren(this.ofNode(what.node));
  }

  bar(name, value, text, style) {
    const fill = make('b', { class: style ?? null });
    fill.style.width = `${Math.round(1000 * value) / 10}%`;
    return make('div', { class: 'bar' }, make('span', {}, name), make('i', {}, fill), make('span', {}, text));
  }

  nodeButton(node) {
    return make('button', { type: 'button', onclick: () => this.onchoose({ node }) }, this.data.nameOf(node));
  }

  ofNode(node) {
    const { data } = this;
    const own = make('div', {}, make('h3', {}, data.nameOf(node)));
    const edges = data.edgesOf(node);
    const said = [`node ${data.nodes[node]}`, data.setOf(node), `${edges.length} edges`];
    own.append(make('p', { class: 'said' }, said.join(' · ')));
    const truth = data.labels[node], predicted = data.predicted[node];
    if (predicted !== data.NONE) {
      const right = truth === data.NONE ? '' : truth === predicted ? ' (right)' : ' (wrong)';
      own.append(make('p', {}, `Predicted ${data.classOf(predicted)}${right}. `, truth === data.NONE ? 'It has no label.' : `True class ${data.classOf(truth)}.`));
    }
    for (let place = 0; place < data.told; place++) {
      const probability = share(data.top_probabilities[node * data.told + place], 65535);
      const number = data.top_classes[node * data.told + place];
      if (number !== data.NONE) own.append(this.bar(data.classOf(number), probability, `${(100 * probability).toFixed(1)} %`));
    }
    const table = make('table', { class: 'own' });
    const head = ['to', 'class', 'suspicion', 'why', 'in from'].map((name, place) => make('th', { class: place === 2 || place === 4 ? 'number' : null }, name));
    const body = make('tbody');
    const most = 40;
    for (const edge of edges.subarray(0, most)) {
      const other = data.otherEnd(edge, node);
      const row = make('tr', { onclick: () => this.onchoose({ edge }) },
        make('td', {}, data.nameOf(other)),
        make('td', {}, data.classOf(data.predicted[other])),
        make('td', { class: 'number' }, share(data.suspicion[edge], 65535).toFixed(4)),
        make('td', {}, whyBars(data, edge)),
        make('td', { class: 'number' }, String(data.epochOf(edge) ?? 'never')));
      body.append(row);
    }
    table.append(make('thead', {}, make('tr', {}, ...head)), body);
    const list = make('div', { class: 'scroll' }, table);
    const more = edges.length > most ? make('p', { class: 'said' }, `The ${most} most suspicious of ${edges.length} edges.`) : '';
    return make('div', { class: 'columns' }, own, make('div', {}, list, more));
  }

  ofEdge(edge) {
    const { data } = this;
    const [a, b] = [data.ends[2 * edge], data.ends[2 * edge + 1]];
    const suspicion = share(data.suspicion[edge], 65535);
    const percent = value => `${(100 * value).toFixed(value > 0.995 && value < 1 ? 1 : 0)} %`;
    const own = make('div', {}, make('h3', {}, `${data.nameOf(a)} – ${data.nameOf(b)}`));
    own.append(make('p', { class: 'said' }, `more suspicious than ${(100 * suspicion).toFixed(2)} % of edges${data.fake[edge] ? ' · marked as fake' : ''}`));
    for (const node of [a, b]) {
      const truth = data.labels[node] === data.NONE ? '' : `, true class ${data.classOf(data.labels[node])}`;
      own.append(make('p', {}, this.nodeButton(node), ` predicted ${data.classOf(data.predicted[node])}${truth} (${data.setOf(node)})`));
    }
    const epoch = data.epochOf(edge);
    own.append(make('p', { class: 'said' }, `${epoch === null ? 'never in training' : `in training from epoch ${epoch} on`} · weight at the end ${data.weights[edge].toFixed(3)}`));
    const why = make('div', {}, make('h3', {}, 'Why'));
    const ranks = data.reasons.subarray(3 * edge, 3 * edge + 3);
    const texts = [
      `difficulty ${(data.difficulty[edge] / 255).toFixed(2)}: the model expects it less than ${percent(share(ranks[0]))} of other edges`,
      `feature similarity ${data.similarity[edge].toFixed(3)}: less than that of ${percent(share(ranks[1]))} of other edges`,
      `neighbourhood overlap ${data.jaccard[edge].toFixed(3)}: less than that of ${percent(share(ranks[2]))} of other edges`,
    ];
    REASONS.forEach((name, place) => {
      why.append(this.bar(name, share(ranks[place]), percent(share(ranks[place])), `why-${place}`), make('p', { class: 'said' }, texts[place]));
    });
    return make('div', { class: 'columns' }, own, why);
  }
}
