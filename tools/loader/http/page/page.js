// The script of the status page: shows status.json, and asks for it again every 10 seconds. The policy in page_files.hpp
// allows this script, the style beside it and requests to keysieved, nothing else.

const REFRESH_MS = 10_000;
const SHOWN_AT_ONCE = 5; // of the history; the rest unfolds

// Elements. Children are elements and strings, and strings become text, whatever they hold: names and messages can
// never be markup.
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter(child => child !== null));
  return node;
}
const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// Figures, written as keysieve's command line writes them.
const count = number => Math.trunc(number).toLocaleString('en-US');
const countOf = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
const moment = at => new Date(at * 1000).toISOString().replace('.000Z', 'Z');
const seconds = value => value === null ? '–' : value < 0.001 ? '< 1 ms'
  : value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(1)} s`;
const change = ratio => `${ratio < 0 ? '−' : '+'}${Math.abs(ratio * 100).toFixed(1)} %`;

function bytes(number) {
  if (number < 1024) return `${number} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let amount = number / 1024;
  // 1023.95 would be written as "1024.0".
  while (amount >= 1023.95 && units.length > 1) {
    amount /= 1024;
    units.shift();
  }
  return `${amount.toFixed(1)} ${units[0]}`;
}

// The two longest units: "2d 3h".
function duration(total) {
  let rest = Math.max(0, Math.floor(total));
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']].map(([size, unit]) => {
    const amount = Math.floor(rest / size);
    rest %= size;
    return amount === 0 ? '' : `${amount}${unit}`;
  });
  const first = parts.findIndex(part => part !== '');
  return first < 0 ? '0s' : parts.slice(first, first + 2).join(' ').trim();
}

// Three digits: "1.02 %".
function share(value) {
  const percent = value * 100;
  if (!(percent > 0)) return '0 %';
  if (value < 1e-10) return 'below 0.00000001 %';
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(percent)), 0), 10);
  return `${(value < 1 ? Math.min(percent, 99.9) : percent).toFixed(decimals)} %`; // no "100.0 %"
}

const time = (at, shown) => el('time', {datetime: moment(at), title: moment(at)}, shown);
const ago = (at, now) => !at ? '–' : time(at, now <= at ? 'now' : `${duration(now - at)} ago`);
// By the longest unit alone.
const roughlyAgo = (at, now) => time(at, now <= at ? 'now' : `${duration(now - at).split(' ')[0]} ago`);

// How a set is. Notice: it answers, but someone should look. Bad: every lookup answers maybe.
const GOOD = 0, NOTICE = 1, BAD = 2;
const VERDICTS = ['good', 'notice', 'bad'];
const ICON_COLOURS = ['%232f9e5f', '%23d99013', '%23d64545'];
const TROUBLES = {not_asked: 'not asked yet', not_pushed: 'never pushed', unavailable: 'store unreachable',
  login: 'cannot log in', cannot_publish: 'cannot publish', adds_in_memory: 'adds only in memory',
  not_cached: 'not in the cache', adds_lost: 'added keys are lost in the store'};

const ofState = state => state === 'ready' ? GOOD : state === 'bypassed' ? NOTICE : BAD;

function ofSet({availability, loader}) {
  const hasTrouble = loader.trouble !== 'not_asked' && (loader.trouble !== 'none' || loader.cache_trouble);
  return Math.max(ofState(availability), hasTrouble ? NOTICE : GOOD);
}

function ofSeen({availability, loader}) {
  const hasTrouble = loader.trouble_reason || loader.full || loader.saves_lost !== 0;
  return Math.max(ofState(availability), hasTrouble ? NOTICE : GOOD);
}

const badge = (kind, text) => el('span', {class: `badge ${kind}`}, text);
const stateBadge = state => badge(VERDICTS[ofState(state)], state[0].toUpperCase() + state.slice(1));

function badges({availability, loader}) {
  const troubles = [loader.trouble, loader.cache_trouble ? 'not_cached' : 'none'].filter(code => code !== 'none');
  return [stateBadge(availability), troubles.map(code => [' ', badge('trouble', TROUBLES[code] ?? code)])];
}

// What lookups answer now, and why.
function answer(set) {
  switch (set.availability) {
    case 'ready':
      return set.generation ? `Answers from generation ${set.generation}.` : 'Answers, published from a file.';
    case 'missing':
      return 'Nothing is published, so lookups answer maybe.';
    case 'expired':
      return 'Its keys are past valid_for, so lookups answer maybe.';
    case 'bypassed': {
      const ends = [[set.bypass, set.bypass_until], [set.store_bypass, set.store_bypass_until]]
        .filter(([isOn]) => isOn).map(([, until]) => until);
      if (ends.length === 0) return `Lookups answer maybe: ${set.reason}.`; // not by will
      return ends.includes(null)
        ? 'Lookups answer maybe until the bypass is switched off.'
        : `Lookups answer maybe until ${moment(Math.max(...ends))}.`;
    }
    default:
      return 'Published by a version that this one cannot read, so lookups answer maybe.';
  }
}

// Columns are pairs of heading and class. A cell that is an element of the table stays as it is.
function table(name, columns, rows) {
  const cell = (tag, value, i) =>
    value instanceof HTMLTableCellElement ? value : el(tag, {class: columns[i][1]}, value);
  return el('table', {class: name},
    el('thead', {}, el('tr', {}, columns.map(([heading], i) => cell('th', heading, i)))),
    el('tbody', {}, rows.map(row => row instanceof HTMLElement ? row
      : el('tr', {}, row.map((value, i) => cell('td', value, i))))));
}
const rowHead = child => el('th', {scope: 'row'}, child);

function figures(set, now) {
  const {loader} = set;
  const isOther = loader.store_generation !== null && loader.store_generation !== set.generation;
  const isOver = set.valid_until !== null && set.valid_until <= now;
  const span = duration(Math.abs(set.valid_until - now));
  const figure = (label, value, ...note) =>
    el('div', {}, el('dt', {}, label), el('dd', {}, value, note.length === 0 ? null : el('small', {}, note)));
  return el('dl', {class: 'figures'},
    figure('Keys', count(set.key_count),
      ...loader.keys_change_ratio === null ? [] : [`${change(loader.keys_change_ratio)} to the one before`]),
    set.known_absent_count === null ? null : figure('Known absent', countOf(set.known_absent_count, 'key')),
    set.value_bits === null ? null : figure('Values', countOf(set.value_bits, 'bit')),
    figure('Keys as of', ago(set.as_of, now)),
    figure('Generation', set.generation === 0 ? 'from a file' : `${set.generation}`,
      isOther ? `the store has ${loader.store_generation}` : `publication ${set.publication}`),
    figure('Published', ago(set.published_at, now)),
    figure(isOver ? 'Expired' : 'Expires', set.valid_until === null ? 'never'
      : time(set.valid_until, isOver ? `${span} ago` : `in ${span}`)),
    figure(isOther ? 'Was equal to the store' : 'Found equal to the store', ago(set.last_confirmed_at, now)),
    figure('Estimated FPR', share(set.estimated_fpr), ...loader.max_fpr === null ? [] : [`at most ${share(loader.max_fpr)}`]),
    figure('Size', bytes(set.bytes), set.kind),
    set.layer_bytes === null ? figure('Live layer', 'none')
      : figure('Live layer', countOf(set.added_keys, 'key'),
          el('meter', {min: 0, max: 1, value: set.layer_fill_ratio, 'aria-label': 'Fill ratio'}), ` ${share(set.layer_fill_ratio)} full`),
    set.key_profile === '' ? null : figure('Key profile', set.key_profile));
}

// The histogram of the shards, in units of the view box, which the page scales to the width that there is.
function shards({measure, count: shardCount, lowest, highest, mean, bins}) {
  const [width, height, foot] = [320, 132, 116];
  const value = number => measure === 'fill_ratio' ? `${(number * 100).toFixed(1)} %` : number.toFixed(0);
  const most = Math.max(...bins);
  const binWidth = width / bins.length;
  const bars = bins.map((number, i) => {
    if (number === 0) return null;
    const bar = Math.max(1.5, number / most * (foot - 2)); // a bin with one shard among thousands is seen
    return svg('rect', {class: 'bar', x: i * binWidth, y: foot - bar, width: binWidth - 1.5, height: bar, rx: 1},
      svg('title', {}, countOf(number, 'shard')));
  });
  const label = (x, anchor, text) => svg('text', {x, y: height - 3, 'text-anchor': anchor}, text);
  const hasOneValue = lowest === highest;
  const meanX = (mean - lowest) / (highest - lowest) * width;
  const marks = hasOneValue ? [label(width / 2, 'middle', value(mean))]
    : [label(0, 'start', value(lowest)),
       svg('line', {class: 'mean', x1: meanX, y1: 0, x2: meanX, y2: foot}),
       label(Math.min(Math.max(meanX, width * 0.32), width * 0.68), 'middle', `mean ${value(mean)}`),
       label(width, 'end', value(highest))];
  const caption = `${countOf(shardCount, 'shard')}, ${measure === 'fill_ratio' ? 'fill ratio' : 'keys per shard'} `
    + (hasOneValue ? value(mean) : `${value(lowest)} to ${value(highest)}`);
  return el('figure', {},
    svg('svg', {class: 'shards', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': caption},
      bars, svg('line', {class: 'axis', x1: 0, y1: foot, x2: width, y2: foot}), marks),
    el('figcaption', {}, caption));
}

function history({set: name, loader}, now, unfolded) {
  const events = {found: 'found live', from_cache: 'published from the cache', enlarged: 'live layer enlarged',
    damaged: 'damage in memory'};
  const columns = [['When', ''], ['What', ''], ['Generation', 'n'], ['Keys', 'n'], ['Size', 'n wide'],
    ['Pull', 'n wide'], ['Publish', 'n wide']];
  const rows = entry => {
    const cells = [ago(entry.at, now), events[entry.event] ?? entry.event,
      entry.generation === 0 ? 'file' : `${entry.generation}`, entry.key_count === 0 ? '–' : count(entry.key_count),
      bytes(entry.bytes), seconds(entry.pull_seconds), seconds(entry.publish_seconds)];
    const row = el('tr', ['refused', 'damaged'].includes(entry.event) ? {class: 'refused'} : {},
      cells.map((cell, i) => el('td', {class: columns[i][1]}, cell)));
    return entry.reason === null ? [row]
      : [row, el('tr', {class: 'reason'}, el('td', {colspan: columns.length}, entry.reason))];
  };
  const part = entries => table('history', columns, entries.flatMap(rows));
  const earlier = loader.history.slice(SHOWN_AT_ONCE);
  if (loader.history.length === 0) return [];
  return [el('h3', {}, 'History'), part(loader.history.slice(0, SHOWN_AT_ONCE)),
    earlier.length === 0 ? null : el('details', {'data-set': name, ...unfolded.has(name) ? {open: ''} : {}},
      el('summary', {}, `${earlier.length} earlier`), part(earlier))];
}

function card(set, now, unfolded) {
  const why = (who, text) => text ? el('p', {class: 'why'}, el('b', {}, `${who}:`), ` ${text}`) : null;
  return el('article', {class: `card ${VERDICTS[ofSet(set)]}`, id: set.set},
    el('header', {}, el('h2', {}, set.set), badges(set), el('span', {class: 'store'}, `from ${set.loader.store}`)),
    el('p', {class: 'answer'}, answer(set)),
    why('Readers', set.reason), why('Loader', set.loader.trouble_reason),
    why('Cache', set.loader.cache_trouble && `${set.loader.cache_trouble}: after a reboot without the store, this `
      + 'host would not have what is live'),
    set.publication === null ? null
      : el('div', {class: 'body'}, figures(set, now), set.loader.shards === null ? null : shards(set.loader.shards)),
    history(set, now, unfolded));
}

function overview(sets, now) {
  if (sets.length < 2) return null;
  return table('overview', [['Set', ''], ['State', ''], ['Keys', 'n'], ['Generation', 'n wide'], ['Keys as of', 'n'],
    ['Size', 'n wide']], sets.map(set => {
    const isPublished = set.publication !== null;
    return [rowHead(el('a', {href: `#${set.set}`}, set.set)), badges(set), isPublished ? count(set.key_count) : '–',
      set.generation ? `${set.generation}` : '–', isPublished ? roughlyAgo(set.as_of, now) : '–',
      isPublished ? bytes(set.bytes) : '–'];
  }));
}

function seenTable(sets, now) {
  if (sets.length === 0) return null;
  const reason = ({reason, loader}) => loader.trouble_reason ?? reason
    ?? (loader.full ? 'its window is full: the false-positive rate rises'
    : loader.saves_lost === 0 ? null
    : `restored without ${countOf(loader.saves_lost, 'save')} that the store has lost: their keys are new once more`);
  return table('overview', [['Seen set', ''], ['State', ''], ['Keys of the window', 'n'], ['Windows', 'n wide'],
    ['Estimated FPR', 'n'], ['Size', 'n wide'], ['Saved', 'n wide']], sets.map(set => {
    const live = set.windows === null ? null : set;
    const why = reason(set);
    return [rowHead(set.set),
      [badge(VERDICTS[ofSeen(set)], stateBadge(set.availability).textContent), why ? el('p', {}, why) : null],
      live ? `≈ ${count(live.estimated_window_keys)} of ${count(live.window_capacity)}` : '–',
      live ? count(live.windows) : '–', live ? share(live.estimated_fpr) : '–', live ? bytes(live.bytes) : '–',
      ago(set.loader.saved_at, now)];
  }));
}

function stores(list) {
  if (list.length === 0) return null;
  return el('ul', {class: 'stores', 'aria-label': 'Stores'}, list.map(({store, url, up, failure}) =>
    el('li', {}, el('b', {}, store), ' ', badge(up ? 'good' : 'bad', up ? 'Up' : 'Away'), ' ', el('code', {}, url),
      failure ? el('p', {}, failure) : null)));
}

const verdicts = view => [...view.sets.map(ofSet), ...view.seen_sets.map(ofSeen)];

function headline(view) {
  if (!view.alive) return `The loader has given no sign of life for ${duration(view.heartbeat_age_seconds)}`;
  const all = verdicts(view).length;
  const ill = verdicts(view).filter(verdict => verdict !== GOOD).length;
  if (ill !== 0) return `${count(ill)} of ${count(all)} sets ${ill === 1 ? 'needs' : 'need'} a look`;
  return all === 1 ? 'The set is well' : `All ${count(all)} sets are well`;
}

function directory(view) {
  const path = el('code', {}, view.directory);
  if (view.visible_bytes === undefined) return [path, ' cannot be read'];
  return [path, `: ${bytes(view.visible_bytes)}`
    + (view.pinned_bytes === null ? '' : `, ${bytes(view.pinned_bytes)} more pinned by idle workers`)];
}

const host = view => el('p', {class: 'host'}, el('b', {}, 'keysieve'), ` on ${view.host}`);

function summary(view) {
  const silentSince = view.now - Math.floor(view.heartbeat_age_seconds);
  const state = !view.alive ? 'has stopped' : view.ready ? 'ready' : 'not ready yet';
  return [host(view), el('h1', {}, headline(view)),
    view.alive ? null : el('p', {class: 'why'},
      'What is published stays live; nothing has been refreshed since ', time(silentSince, moment(silentSince)), '. ',
      el('b', {}, 'Restart it: ', el('code', {}, 'systemctl restart keysieved'))),
    el('p', {class: 'facts'}, directory(view)),
    el('p', {class: 'facts'}, `keysieved ${view.version}, up ${duration(view.now - view.started_at)}, ${state}; shown `,
      time(view.now, moment(view.now)))];
}

// `children` are those of the header.
function showTop(verdict, title, hostName, children) {
  document.title = `${title} · keysieve on ${hostName}`;
  document.querySelector('link[rel=icon]').href = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' "
    + `viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='${ICON_COLOURS[verdict]}'/></svg>`;
  const top = document.querySelector('body > header');
  top.className = `top ${VERDICTS[verdict]}`;
  top.replaceChildren(...children.filter(child => child !== null));
}

// What leads to the element that has the keyboard's focus, in the page as it will be after the next refresh.
function focused() {
  const element = document.activeElement;
  if (element === null) return null;
  if (element.matches('main a')) return `main a[href="${CSS.escape(element.getAttribute('href'))}"]`;
  if (element.matches('summary')) return `[data-set="${CSS.escape(element.parentElement.dataset.set)}"] > summary`;
  return null;
}

function show(view) {
  const selector = focused();
  const unfolded = new Set([...document.querySelectorAll('details[open]')].map(details => details.dataset.set));
  const sets = [...view.sets].sort((a, b) => ofSet(b) - ofSet(a)); // the worst come first
  showTop(view.alive ? Math.max(GOOD, ...verdicts(view)) : BAD, headline(view), view.host, summary(view));
  document.querySelector('body > main').replaceChildren(...[stores(view.stores), overview(sets, view.now),
    seenTable(view.seen_sets, view.now), ...sets.map(set => card(set, view.now, unfolded))]
    .filter(child => child !== null));
  document.body.classList.remove('stale');
  if (selector !== null) document.querySelector(selector)?.focus({preventScroll: true});
}

// What was shown last stays, but pale.
function showSilence(last, reason) {
  const view = last ?? {host: location.host};
  showTop(BAD, 'keysieved does not answer', view.host, [host(view), el('h1', {}, 'keysieved does not answer'),
    el('p', {class: 'why'}, `${reason}. What is published stays live. `,
      last ? ['Below is what it said at ', time(last.now, moment(last.now)), '. '] : null,
      el('b', {}, 'Look at ', el('code', {}, 'systemctl status keysieved'), ' and ', el('code', {}, 'keysieve status'),
        ' on the host.'))]);
  document.body.classList.add('stale');
}

let last = null;
async function refresh() {
  setTimeout(refresh, REFRESH_MS);
  let view = null;
  try {
    const response = await fetch('status.json', {signal: AbortSignal.timeout(REFRESH_MS)});
    if (!response.ok) throw new Error(`status.json: ${response.status} ${await response.text()}`.trim());
    view = await response.json();
  } catch (error) {
    showSilence(last, error.message);
    return;
  }
  if (last !== null && view.version !== last.version) location.reload(); // this script may be of the version before
  const isFirst = last === null;
  show(view);
  last = view;
  if (isFirst) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
document.querySelector('body > footer').prepend(`Refreshed every ${REFRESH_MS / 1000} seconds. `);
refresh();
