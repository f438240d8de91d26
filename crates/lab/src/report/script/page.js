// The page: theme, and what joins drawing, slider, table and details.

function listenToTheme(onchange) {
  const button = byId('theme');
  const root = document.documentElement;
  const themes = [['', '◐', 'as the system has it'], ['light', '☀', 'light'], ['dark', '☾', 'dark']];
  const stored = () => { try { return localStorage.getItem('edgepace-theme') ?? ''; } catch { return ''; } };
  let place = Math.max(0, themes.findIndex(([name]) => name === stored()));
  const apply = () => {
    const [name, sign, words] = themes[place];
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    button.textContent = sign;
    button.title = `Theme: ${words}`;
    button.setAttribute('aria-label', button.title);
    onchange();
  };
  button.addEventListener('click', () => {
    place = (place + 1) % themes.length;
    try { localStorage.setItem('edgepace-theme', themes[place][0]); } catch { /* not kept, then */ }
    apply();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onchange);
  apply();
}

function listenToTime(data, graph) {
  const slider = byId('time'), output = byId('epoch'), play = byId('play');
  slider.max = data.last_epoch;
  let timer = null;
  const show = () => {
    const epoch = Number(slider.value);
    output.textContent = `${epoch} of ${data.last_epoch}`;
    // The last of the epochs at which edges come in that is over.
    graph.setTime(data.epochs.findLastIndex(own => own <= epoch));
  };
  const stop = () => {
    cancelAnimationFrame(timer);
    timer = null;
    play.textContent = '▶';
    play.setAttribute('aria-label', 'Play the curriculum');
  };
  play.addEventListener('click', () => {
    if (timer) { stop(); return; }
    const from = Number(slider.value) >= data.last_epoch ? 0 : Number(slider.value);
    const seconds = 10, begin = performance.now();
    play.textContent = '❚❚';
    play.setAttribute('aria-label', 'Stop');
    const tick = now => {
      const epoch = from + (now - begin) / 1000 / seconds * data.last_epoch;
      slider.value = Math.min(epoch, data.last_epoch);
      show();
      if (epoch >= data.last_epoch) stop();
      else timer = requestAnimationFrame(tick);
    };
    timer = requestAnimationFrame(tick);
  });
  slider.addEventListener('input', () => { if (timer) stop(); show(); });
  slider.value = data.last_epoch;
  show();
}

function listenToColours(data, graph) {
  const select = byId('colour');
  if (data.has_fakes) select.append(make('option', { value: '2' }, 'fake or genuine'));
  select.addEventListener('change', () => {
    graph.mode = Number(select.value);
    [byId('ramp-low').textContent, byId('ramp-high').textContent] = [['easy', 'hard'], ['supported', 'suspicious'], ['genuine', 'fake']][graph.mode];
    graph.redraw();
  });
  byId('others').addEventListener('change', event => { graph.others = event.target.checked ? 0.5 : 0; graph.redraw(); });
  const keys = byId('class-keys');
  data.classes.slice(0, 20).forEach((name, place) => {
    const key = make('span', { class: 'k' }, make('span', {}, name));
    key.style.color = `var(--k${place % 10})`;
    keys.append(key);
  });
  if (data.classes.length > 20) keys.append(`and ${data.classes.length - 20} more`);
  for (let node = 0; node < data.nodeCount; node++) {
    if (data.isWrong(node)) {
      keys.append(make('span', { class: 'k wrong' }, make('span', {}, 'ring: predicted wrongly')));
      break;
    }
  }
}

function listenToFind(data, choose) {
  const input = byId('find'), list = byId('found');
  const find = () => {
    const text = input.value.toLowerCase().trim();
    const hits = [];
    for (let node = 0; text && node < data.nodeCount && hits.length < 12; node++) {
      const name = data.nameOf(node).toLowerCase();
      if (name === text) hits.unshift(node);
      else if (name.includes(text)) hits.push(node);
    }
    return hits;
  };
  input.addEventListener('input', () => {
    const hits = find();
    list.replaceChildren(...hits.map(node => make('option', { value: data.nameOf(node) })));
    if (hits.length && data.nameOf(hits[0]) === input.value) choose({ node: hits[0] }, true);
  });
  input.addEventListener('keydown', event => {
    const [node] = find();
    if (event.key === 'Enter' && node !== undefined) choose({ node }, true);
  });
}

function start() {
  const data = readData();
  let graph = null;
  listenToTheme(() => graph?.readColours());
  if (!data) return;
  const choose = (what, move = true) => {
    details.show(what);
    table.choose(what && 'edge' in what ? what.edge : null);
    graph?.choose(what, move);
  };
  const details = new Details(data, what => choose(what, false));
  const table = new EdgeTable(data, what => {
    choose(what);
    if (graph) byId('graph').scrollIntoView({ block: 'start' });
    else byId('details').scrollIntoView({ block: 'nearest' });
  });
  byId('graph-box').hidden = false;
  try {
    graph = new GraphView(byId('canvas'), data);
  } catch (error) {
    byId('graph-box').hidden = true;
    byId('no-webgl').hidden = false;
    return;
  }
  graph.onchoose = what => choose(what, false);
  const tip = byId('tip');
  graph.onhover = (what, x, y) => {
    tip.hidden = !what;
    if (!what) return;
    const { node } = what;
    const truth = data.labels[node] === data.NONE ? '' : `\ntrue class: ${data.classOf(data.labels[node])}`;
    const predicted = data.predicted[node] === data.NONE ? '' : `\npredicted: ${data.classOf(data.predicted[node])}`;
    tip.textContent = `${data.nameOf(node)}${predicted}${truth}\n${data.edgesOf(node).length} edges`;
    const left = Math.min(x + 14, graph.canvas.clientWidth - tip.offsetWidth - 6);
    tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, Math.min(y + 14, graph.canvas.clientHeight - tip.offsetHeight - 6))}px)`;
  };
  listenToTime(data, graph);
  listenToColours(data, graph);
  listenToFind(data, choose);
  byId('zoom-in').addEventListener('click', () => graph.zoomBy(1.5));
  byId('zoom-out').addEventListener('click', () => graph.zoomBy(1 / 1.5));
  byId('zoom-all').addEventListener('click', () => { choose(null); graph.showAll(); });
}

start();
document.documentElement.dataset.ready = 'true';
