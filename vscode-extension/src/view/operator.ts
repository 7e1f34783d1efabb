/** One operator: the path of a call through the dispatcher, and the whole table in its order. */
import type { Call, Place, Step, Table, TableEntry, Why } from '../protocol';
import { h } from './dom';
import { Grid } from './grid';
import { isTelling, placeWords, sign } from './words';

export interface OperatorActions {
  open(place: Place): void;
  back(): void;
  call(call: Call): void;
  everyKey(isWanted: boolean): void;
}

/** Where torch's long explanation begins that says nothing about this operator. */
const MORE_TEXT = ' This could be because';

export class OperatorView {
  readonly element = h('section', { class: 'operator', 'aria-label': 'One operator' });
  private readonly title = h('h1');
  private readonly schema = h('code', { class: 'schema' });
  private readonly toggles = h('form', { class: 'tools', 'aria-label': 'The call', onsubmit: (event) => { event.preventDefault(); } });
  private readonly path = h('ol', { class: 'path' });
  private readonly end = h('div', { class: 'end', role: 'status' });
  private readonly keySet = h('p', { class: 'note' });
  private readonly body = h('tbody');
  private readonly every: HTMLInputElement;
  private readonly grid: Grid;
  private shown: { table: Table; why: Why } | undefined;
  private offered = '';

  constructor(
    private readonly actions: OperatorActions,
    private call: Call,
    everyKey: boolean,
  ) {
    this.every = h('input', { type: 'checkbox', checked: everyKey, onchange: () => { actions.everyKey(this.every.checked); this.showTable(); } });
    const heads = ['key', '', 'kernel', 'why', 'where'].map((head) => h('th', { scope: 'col' }, head));
    const table = h('table', { class: 'whole' }, h('thead', {}, h('tr', {}, ...heads)), this.body);
    this.grid = new Grid(table);
    this.element.append(
      h('header', {}, h('button', { class: 'back', onclick: () => { actions.back(); } }, '← all operators'), this.title, this.schema),
      h('h2', {}, 'The path of a call'),
      this.toggles,
      this.path,
      this.end,
      this.keySet,
      h('h2', {}, 'The dispatch table', h('label', { class: 'every' }, this.every, 'every key')),
      h('p', { class: 'note' }, 'A call runs the highest key of its tensors that has something here, from the top. A missing one raises: only a fallthrough is skipped.'),
      h('div', { class: 'scroll' }, table),
    );
  }

  /** Show what is known now. */
  update(table: Table, why: Why): void {
    this.shown = { table, why };
    this.title.textContent = table.op;
    this.schema.textContent = table.schema ?? 'no definition was found';
    this.showToggles(why);
    this.showPath(why);
    this.showTable();
  }

  private showToggles(why: Why): void {
    const offered = JSON.stringify([why.devices, why.layouts, why.transforms, why.modes]);
    if (offered === this.offered) return;
    this.offered = offered;
    const set = (change: Partial<Call>): void => {
      this.call = { ...this.call, ...change };
      this.actions.call(this.call);
    };
    const choice = (label: string, value: string, options: readonly (readonly [string, string])[], chosen: (value: string) => void): HTMLElement => {
      const select = h('select', { 'data-toggle': label, onchange: () => { chosen(select.value); } }, ...options.map(([name, words]) => h('option', { value: name }, words)));
      select.value = value;
      return h('label', {}, label, select);
    };
    const tick = (label: string, isOn: boolean, ticked: (isOn: boolean) => void): HTMLElement => {
      const box = h('input', { type: 'checkbox', 'data-toggle': label, checked: isOn, onchange: () => { ticked(box.checked); } });
      return h('label', {}, box, label);
    };
    const same = (names: readonly string[]): (readonly [string, string])[] => names.map((name) => [name, name]);
    this.toggles.replaceChildren(
      choice('device', this.call.device, same(why.devices), (device) => { set({ device }); }),
      choice('layout', this.call.layout, same(why.layouts), (layout) => { set({ layout }); }),
      choice('mode', this.call.mode ?? '', [['', 'none'], ...same(why.modes)], (mode) => { set({ mode: mode === '' ? null : mode }); }),
      tick('requires_grad', this.call.requiresGrad, (requiresGrad) => { set({ requiresGrad }); }),
      tick('autocast', this.call.autocast, (autocast) => { set({ autocast }); }),
      tick('inference_mode', this.call.inferenceMode, (inferenceMode) => { set({ inferenceMode }); }),
      tick('functionalize', this.call.functionalize, (functionalize) => { set({ functionalize }); }),
      ...why.transforms
        .filter((name) => name !== 'functionalize')
        .map((name) =>
          tick(name, this.call.transforms.includes(name), (isOn) => {
            set({ transforms: isOn ? [...this.call.transforms, name] : this.call.transforms.filter((each) => each !== name) });
          }),
        ),
    );
  }

  private showPath(why: Why): void {
    this.path.replaceChildren(...why.steps.map((step) => this.step(step)));
    this.keySet.textContent = `Key set: ${why.keySet.join(', ') || 'empty'}${why.excluded.length > 0 ? ` · excluded: ${why.excluded.join(', ')}` : ''}`;
    this.end.replaceChildren();
    this.end.className = why.error ? 'end raises' : 'end';
    if (why.error) {
      this.end.append(h('strong', {}, `raises ${why.error.type}`), h('p', {}, why.error.text.split(MORE_TEXT)[0] ?? ''));
      if (why.cures.length > 0) this.end.append(h('p', {}, 'Register a kernel at ', ...why.cures.flatMap((cure, index) => [index === 0 ? '' : ' or ', h('code', {}, cure)]), '.'));
    }
  }

  private step(step: Step): HTMLElement {
    const what = step.note || (step.kernel ?? step.reason);
    return h(
      'li',
      { class: `step ${step.outcome.replace(' ', '-')}` },
      h('span', { class: 'key' }, step.key),
      h('span', { class: 'outcome' }, step.outcome),
      h('span', { class: 'what' }, step.outcome === 'skipped' ? 'fallthrough' : what),
      h('span', { class: 'where' }, this.link(step)),
    );
  }

  private showTable(): void {
    if (!this.shown) return;
    const { table, why } = this.shown;
    const visited = new Set(why.steps.map((step) => step.key));
    const entries = [...table.keys].reverse().filter((entry) => this.every.checked || isTelling(entry, visited));
    this.body.replaceChildren(...entries.map((entry) => this.entry(entry, visited.has(entry.key))));
    this.grid.settle();
  }

  private entry(entry: TableEntry, isVisited: boolean): HTMLElement {
    const { glyph, words } = sign(entry.state);
    return h(
      'tr',
      { class: isVisited ? 'visited' : '', 'data-key': entry.key },
      h('th', { scope: 'row' }, entry.key),
      h('td', { class: `cell ${entry.state}`, title: words }, glyph),
      h('td', { class: 'kernel-name' }, ...(entry.kernel !== null && !entry.kernel.startsWith('registered at') ? breakable(entry.kernel) : [])),
      h('td', {}, entry.state === 'fallthrough' ? 'fallthrough, skipped' : entry.state === 'missing' ? 'missing' : entry.reason),
      h('td', { class: 'where' }, entry.state === 'missing' ? '' : this.link(entry)),
    );
  }

  /** The place of a registration: a link where it can be opened, the words of torch where it is in torch. */
  private link(what: Pick<Step, 'location' | 'path' | 'line' | 'source'>): HTMLElement | string {
    const { location } = what;
    if (location) {
      return h('button', { class: 'link', onclick: () => { this.actions.open(location); } }, placeWords(location.uri, location.range.start.line));
    }
    if (what.path === null) return '';
    return h('span', { class: 'elsewhere', title: `${what.path}:${what.line ?? ''}` }, what.source === 'installed' ? 'torch' : `${what.path}:${what.line ?? ''}`);
  }
}

/** A C++ name that goes on in the next line after a `::` where there is no room for it. */
function breakable(name: string): (Node | string)[] {
  return name.split(/(?<=::)/).flatMap((part, index) => (index === 0 ? [part] : [h('wbr'), part]));
}
