/** The operators of the workspace against the dispatch keys. */
import type { Matrix, Place, Row } from '../protocol';
import { h } from './dom';
import { Grid } from './grid';
import { NOT_DEFINED, SIGNS, type Filter, cellWords, coverage, isDefined, isShown, sign } from './words';

/** Rows that are shown at once. More would be slow, and nobody reads them: the filter finds the others. */
const MOST = 2000;

export interface MatrixActions {
  open(place: Place): void;
  choose(operator: string): void;
  filter(filter: Filter): void;
}

/** The matrix as an element that takes new data while it is looked at, and keeps its focus. */
export class MatrixView {
  readonly element = h('section', { class: 'matrix', 'aria-label': 'Dispatch table of the workspace' });
  private readonly text: HTMLInputElement;
  private readonly namespace = h('select', { 'aria-label': 'Namespace', onchange: () => { this.filtered(); } });
  private readonly onlyMissing: HTMLInputElement;
  private readonly summary = h('p', { class: 'summary', role: 'status' });
  private readonly tables = h('div', { class: 'tables' });
  private readonly boards = new Map<string, Board>();
  private matrices: readonly Matrix[] = [];

  constructor(
    private readonly actions: MatrixActions,
    filter: Filter,
  ) {
    this.text = h('input', {
      type: 'search',
      placeholder: 'Filter by operator, schema or kernel',
      'aria-label': 'Filter',
      value: filter.text,
      oninput: () => { this.filtered(); },
      onkeydown: keepSelectAll,
    });
    this.onlyMissing = h('input', { type: 'checkbox', checked: filter.onlyMissing, onchange: () => { this.filtered(); } });
    this.namespace.append(h('option', { value: filter.namespace }, filter.namespace));
    this.namespace.value = filter.namespace;
    this.element.append(
      h('header', { class: 'tools' }, this.text, this.namespace, h('label', {}, this.onlyMissing, 'only with something missing')),
      this.summary,
      this.tables,
      legend(),
    );
  }

  /** Show what is known now. */
  update(matrices: readonly Matrix[]): void {
    this.matrices = matrices;
    const chosen = this.namespace.value;
    const names = [...new Set(matrices.flatMap((matrix) => matrix.namespaces))].sort();
    this.namespace.replaceChildren(
      h('option', { value: '' }, 'all namespaces'),
      ...names.map((name) => h('option', { value: name }, name)),
    );
    this.namespace.value = names.includes(chosen) ? chosen : '';
    this.show();
  }

  focusFilter(): void {
    this.text.focus();
    this.text.select();
  }

  private get filter(): Filter {
    return { text: this.text.value, namespace: this.namespace.value, onlyMissing: this.onlyMissing.checked };
  }

  private filtered(): void {
    this.actions.filter(this.filter);
    this.show();
  }

  private show(): void {
    const { filter } = this;
    const all = this.matrices.reduce((count, matrix) => count + matrix.operators.length, 0);
    let seen = 0;
    const wanted = this.matrices.filter((matrix) => matrix.operators.length > 0 || this.matrices.length === 1);
    for (const matrix of wanted) {
      const board = this.boards.get(matrix.root) ?? new Board(this.actions);
      this.boards.set(matrix.root, board);
      const rows = matrix.operators.filter((row) => isShown(row, filter));
      seen += rows.length;
      board.update(matrix, rows, this.matrices.length > 1);
    }
    const elements = wanted.map((matrix) => this.boards.get(matrix.root)?.element ?? h('div'));
    if (elements.length !== this.tables.childElementCount || elements.some((element, index) => element !== this.tables.children[index])) {
      this.tables.replaceChildren(...elements);
    }
    const torch = [...new Set(this.matrices.map((matrix) => matrix.torch ?? 'no torch'))].join(', ');
    const count = seen === all ? `${all}` : `${seen} of ${all}`;
    this.summary.textContent = all === 0 ? `No operator is defined or implemented here.` : `${count} operators · torch ${torch}`;
  }
}

/** The table of one folder. Rows that have not changed stay as they are. */
class Board {
  readonly element = h('div', { class: 'board' });
  private readonly head = h('tr');
  private readonly body = h('tbody');
  private readonly note = h('p', { class: 'note' });
  private readonly root = h('h2');
  private readonly grid: Grid;
  private rows = new Map<string, { readonly key: string; readonly element: HTMLTableRowElement }>();
  private heading = '';

  constructor(private readonly actions: MatrixActions) {
    const table = h('table', { role: 'grid' }, h('thead', {}, this.head), this.body);
    this.grid = new Grid(table);
    this.element.append(this.root, h('div', { class: 'scroll' }, table), this.note);
  }

  update(matrix: Matrix, rows: readonly Row[], isNamed: boolean): void {
    this.root.textContent = isNamed ? matrix.root : '';
    this.root.hidden = !isNamed;
    const keys = matrix.keys.map((each) => each.key);
    this.title(matrix, keys);
    const before = this.rows;
    this.rows = new Map();
    const wanted: HTMLTableRowElement[] = [];
    for (const row of rows.slice(0, MOST)) {
      const key = JSON.stringify([keys, row]);
      const known = before.get(row.op);
      const element = known?.key === key ? known.element : this.row(row, keys);
      this.rows.set(row.op, { key, element });
      wanted.push(element);
    }
    this.place(wanted);
    this.note.textContent = noteOn(rows.length, matrix.operators.length);
    this.grid.settle();
  }

  private title(matrix: Matrix, keys: readonly string[]): void {
    const counts = keys.map((key) => coverage(matrix.operators, key));
    const heading = JSON.stringify([keys, counts, matrix.operators.length]);
    if (heading === this.heading) return;
    this.heading = heading;
    const isBackend = new Set(matrix.keys.filter((each) => each.kind === 'backend').map((each) => each.key));
    this.head.replaceChildren(
      h('th', { scope: 'col' }, 'operator'),
      ...keys.map((key, index) =>
        h(
          'th',
          { scope: 'col', class: isBackend.has(key) ? 'key backend' : 'key', title: `${key}: ${counts[index]} of ${matrix.operators.length} operators have a kernel` },
          h('span', {}, key),
          h('small', {}, `${counts[index]}/${matrix.operators.length}`),
        ),
      ),
    );
  }

  /** Put rows in their order, touching only those that are new, gone or moved: the focus stays where it is. */
  private place(wanted: readonly HTMLTableRowElement[]): void {
    const focused = document.activeElement?.closest('tr')?.dataset['op'];
    const column = [...(document.activeElement?.closest('tr')?.cells ?? [])].findIndex((cell) => cell.contains(document.activeElement));
    const staying = new Set(wanted);
    for (const row of [...this.body.rows]) if (!staying.has(row)) row.remove();
    wanted.forEach((row, index) => {
      if (this.body.rows[index] !== row) this.body.insertBefore(row, this.body.rows[index] ?? null);
    });
    if (focused !== undefined && document.activeElement === document.body) {
      this.rows.get(focused)?.element.cells[column]?.querySelector('button')?.focus();
    }
  }

  private row(row: Row, keys: readonly string[]): HTMLTableRowElement {
    const name = h(
      'button',
      { class: 'name', tabindex: -1, title: isDefined(row) ? (row.schema ?? row.op) : 'nothing that was read defines it: no call reaches its kernels', onclick: () => { this.actions.choose(row.op); } },
      h('span', { class: 'namespace' }, `${row.namespace}::`),
      row.op.slice(row.namespace.length + 2),
      ...(isDefined(row) ? [] : [' ', h('small', { class: 'undefined' }, NOT_DEFINED)]),
    );
    const cells = keys.map((key) => {
      const cell = row.cells[key];
      const { glyph } = sign(cell?.state ?? null);
      const words = cellWords(row, key, cell);
      const place = cell?.location;
      const follow = place ? () => { this.actions.open(place); } : () => { this.actions.choose(row.op); };
      return h(
        'td',
        { class: `cell ${cell?.state ?? 'unknown'}` },
        h('button', { tabindex: -1, class: place ? 'follows' : '', title: words, 'aria-label': words, onclick: follow }, glyph),
      );
    });
    const element = h('tr', { 'data-op': row.op }, h('th', { scope: 'row' }, name), ...cells);
    return element;
  }
}

function noteOn(wanted: number, all: number): string {
  if (wanted > MOST) return `The first ${MOST} of ${wanted} are shown: filter to see the others.`;
  return wanted === 0 && all > 0 ? 'No operator fits the filter.' : '';
}

/** The workbench sees the keys of a view, too, and would at times select all of the editor beside it. */
function keepSelectAll(event: Event): void {
  if (event instanceof KeyboardEvent && (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a') event.stopPropagation();
}

function legend(): HTMLElement {
  const signs = Object.entries(SIGNS).map(([state, { glyph, words }]) =>
    h('li', {}, h('span', { class: `cell ${state}`, 'aria-hidden': 'true' }, glyph), words),
  );
  return h(
    'footer',
    {},
    h('ul', { class: 'legend', 'aria-label': 'Signs' }, ...signs),
    h('p', { class: 'note' }, 'Arrow keys move, Enter goes to the registration, an operator\'s name opens its whole table, / filters.'),
  );
}
