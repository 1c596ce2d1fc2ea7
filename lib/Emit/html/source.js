// The source text: marks the lines of the steps that run now, and the expression of the chosen step.

const KEYWORDS = `import param fn collective program implements let var for in while if else return break continue
  assert remark parallelize channel protocol scratch instances sizes ranks ensures alias when by on is true false`;
const WORDS = new RegExp([
  /(?<comment>\/\/.*|\/\*.*?\*\/)/,
  /(?<text>"(?:[^"\\]|\\.)*")/,
  RegExp(`\\b(?<keyword>${KEYWORDS.split(/\s+/).join('|')})\\b`),
  /\b(?<type>int|bool|string|buffer|chunk|input|output)\b/,
  /\b(?<number>\d\w*)/,
].map((part) => part.source).join('|'), 'g');

/// Returns the words of a line that have a colour, as [begin, end, kind].
function colored(text) {
  return [...text.matchAll(WORDS)].map((match) => {
    const kind = Object.keys(match.groups).find((group) => match.groups[group] !== undefined);
    return [match.index, match.index + match[0].length, kind];
  });
}

/// Returns the spans of a line, with the columns from `begin` to `end` marked.
function spans(text, begin, end) {
  const words = colored(text);
  const cuts = [...new Set([0, text.length, begin, end, ...words.flatMap((word) => word.slice(0, 2))])]
    .filter((cut) => cut >= 0 && cut <= text.length).sort((a, b) => a - b);
  return cuts.slice(1).map((cut, i) => {
    const word = words.find((candidate) => candidate[0] <= cuts[i] && cut <= candidate[1]);
    const span = element('span', word ? {class: word[2]} : {}, text.slice(cuts[i], cut));
    return begin <= cuts[i] && cut <= end && begin !== end ? element('mark', {}, span) : span;
  });
}

/// Returns the end of a path: the file and its folder.
function shortPath(path) {
  return path.split('/').slice(-2).join('/');
}

class Source {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.now = [];
    this.marked = [];
    this.isKept = false; // true: the shown file stays open, even if the current steps come from other files
    this.files = model.files.map((file, i) => this.makeFile(file, i));
    if (this.files.length === 0) {
      root.append(element('p', {class: 'hint'}, 'This program was not made from source text.'));
      return;
    }
    root.append(element('h2', {}, ...this.files.map((file) => file.tab)), ...this.files.map((file) => file.node));
    this.open(0);
  }

  makeFile(file, index) {
    const texts = file.text.replace(/\n$/, '').split('\n').map((text) => text.replace(/\r$/, ''));
    const lines = texts.map((text, i) =>
      element('div', {class: 'line'}, element('i', {}, String(i + 1)), element('code', {}, ...spans(text, -1, -1))));
    const tab = element('button', {type: 'button', class: 'tab', title: file.name}, shortPath(file.name));
    tab.onclick = () => this.keep(index);
    return {texts, lines, tab, node: element('div', {class: 'file'}, ...lines)};
  }

  siteOf(step) {
    return this.model.sites[step.site];
  }

  /// Returns text such as `ring.gc3:7`, or an empty string.
  placeText(step) {
    const site = this.siteOf(step);
    return site ? `${shortPath(this.model.files[site[0]].name)}:${site[1] + 1}` : '';
  }

  open(index) {
    this.shown = index;
    this.files.forEach((file, i) => {
      file.node.hidden = i !== index;
      file.tab.setAttribute('aria-pressed', i === index);
    });
  }

  /// Shows a file until a step of another file is chosen.
  keep(index) {
    this.isKept = true;
    this.open(index);
    this.root.scrollTop = 0;
    const lines = new Set(this.files[index].lines);
    const line = [...this.marked.map(([file, i]) => file.lines[i]), ...this.now].find((each) => lines.has(each));
    if (line)
      this.reveal(line);
  }

  /// Highlights the lines of the steps of a tick, and opens a file that contains such a line.
  show(steps) {
    const sites = steps.map((id) => this.siteOf(this.model.steps[id])).filter((site) => site !== null);
    this.now.forEach((line) => line.classList.remove('now'));
    this.now = [...new Set(sites.map(([file, line]) => this.files[file].lines[line]))];
    this.now.forEach((line) => line.classList.add('now'));
    this.files.forEach((file, i) => file.tab.classList.toggle('now', sites.some((site) => site[0] === i)));
    if (sites.length === 0 || this.marked.length !== 0)
      return;
    if (!this.isKept && sites.every((site) => site[0] !== this.shown))
      this.open(sites[0][0]);
    const site = sites.find(([file]) => file === this.shown);
    if (site)
      this.reveal(this.files[site[0]].lines[site[1]]);
  }

  /// Marks the expression that a step comes from. If `step` is null, removes the marks.
  choose(step) {
    this.marked.forEach(([file, line]) => this.mark(file, line, -1, -1));
    this.marked = [];
    const site = step && this.siteOf(step);
    if (!site)
      return;
    const [f, line, column, endLine, endColumn] = site;
    const file = this.files[f];
    this.isKept = false;
    this.open(f);
    for (let i = line; i <= endLine; ++i) {
      this.mark(file, i, i === line ? column : 0, i === endLine ? endColumn : file.texts[i].length);
      this.marked.push([file, i]);
    }
    this.reveal(file.lines[line]);
  }

  mark(file, line, begin, end) {
    file.lines[line].lastChild.replaceChildren(...spans(file.texts[line], begin, end));
    file.lines[line].classList.toggle('chosen', begin >= 0);
  }

  reveal(line) {
    const top = line.offsetTop - this.root.offsetTop;
    const header = this.root.firstElementChild.offsetHeight; // the header covers the first lines
    const room = this.root.clientHeight - header - line.offsetHeight;
    const seen = top - header - this.root.scrollTop;
    if (seen < 0 || seen > room)
      this.root.scrollTop = top - header - room / 3;
  }
}
