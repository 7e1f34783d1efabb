/** A table that arrow keys walk through: one cell is in the order of Tab, the others are reached from it. */

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
};

/** Make the buttons of a table's rows walkable. Call `settle` after its rows have changed. */
export class Grid {
  private current: HTMLElement | undefined;

  constructor(private readonly table: HTMLTableElement) {
    table.addEventListener('keydown', (event) => { this.key(event); });
    table.addEventListener('focusin', (event) => {
      if (event.target instanceof HTMLElement) this.mark(event.target);
    });
  }

  /** One cell stays in the order of Tab, whatever became of the rows. */
  settle(): void {
    if (this.current?.isConnected !== true) {
      const first = this.table.querySelector<HTMLElement>('tbody button');
      if (first) this.mark(first);
    }
  }

  private mark(cell: HTMLElement): void {
    this.current?.setAttribute('tabindex', '-1');
    cell.setAttribute('tabindex', '0');
    this.current = cell;
  }

  private key(event: KeyboardEvent): void {
    const target = this.target(event);
    if (target === undefined) return;
    event.preventDefault();
    target.focus();
    target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  private target(event: KeyboardEvent): HTMLElement | undefined {
    const rows = [...this.table.tBodies].flatMap((body) => [...body.rows]);
    const from = document.activeElement?.closest('td, th');
    const row = from?.parentElement;
    if (!from || !(row instanceof HTMLTableRowElement)) return undefined;
    const at = [rows.indexOf(row), [...row.cells].indexOf(from as HTMLTableCellElement)] as const;
    const step = STEPS[event.key];
    const wanted: readonly [number, number] | undefined = step
      ? [at[0] + step[0], at[1] + step[1]]
      : event.key === 'Home'
        ? [event.ctrlKey ? 0 : at[0], 0]
        : event.key === 'End'
          ? [event.ctrlKey ? rows.length - 1 : at[0], row.cells.length - 1]
          : undefined;
    if (wanted === undefined) return undefined;
    const line = rows[Math.max(0, Math.min(rows.length - 1, wanted[0]))];
    const cell = line?.cells[Math.max(0, Math.min(line.cells.length - 1, wanted[1]))];
    return cell?.querySelector('button') ?? undefined;
  }
}
