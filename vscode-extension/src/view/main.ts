/** The page of the dispatch table view: what it is told it shows, what is done in it it tells. */
import type { FromPage, ToPage } from '../table/messages';
import { h } from './dom';
import { MatrixView } from './matrix';
import { OperatorView } from './operator';
import { type Kept, NOTHING_KEPT } from './state';

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; getState(): Kept | undefined; setState(state: Kept): void };

const editor = acquireVsCodeApi();
let kept: Kept = { ...NOTHING_KEPT, ...editor.getState() };
let view: MatrixView | OperatorView | undefined;

const page = document.getElementById('page') ?? document.body;
const problem = h('p', { class: 'problem', role: 'alert', hidden: true });
const content = h('div', {}, h('p', { class: 'note' }, 'Reading the workspace…'));
page.append(problem, content);

function keep(change: Partial<Kept>): void {
  kept = { ...kept, ...change };
  editor.setState(kept);
}

function choose(operator: string | null): void {
  keep({ operator });
  editor.postMessage({ type: 'operator', operator, call: kept.call });
}

function matrixView(): MatrixView {
  if (view instanceof MatrixView) return view;
  const made = new MatrixView(
    {
      open: (place) => { editor.postMessage({ type: 'open', place }); },
      choose,
      filter: (filter) => { keep({ filter }); },
    },
    kept.filter,
  );
  show(made);
  return made;
}

function operatorView(): OperatorView {
  if (view instanceof OperatorView) return view;
  const made = new OperatorView(
    {
      open: (place) => { editor.postMessage({ type: 'open', place }); },
      back: () => { choose(null); },
      call: (call) => {
        keep({ call });
        editor.postMessage({ type: 'operator', operator: kept.operator, call });
      },
      everyKey: (everyKey) => { keep({ everyKey }); },
    },
    kept.call,
    kept.everyKey,
  );
  show(made);
  return made;
}

function show(made: MatrixView | OperatorView): void {
  view = made;
  content.replaceChildren(made.element);
}

function receive(message: ToPage): void {
  problem.hidden = message.type !== 'problem';
  switch (message.type) {
    case 'problem':
      problem.textContent = message.message;
      break;
    case 'matrix':
      keep({ operator: null });
      matrixView().update(message.matrices);
      break;
    case 'operator':
      keep({ operator: message.table.op });
      operatorView().update(message.table, message.why);
      break;
  }
}

window.addEventListener('message', (event: MessageEvent<ToPage>) => { receive(event.data); });
window.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'search';
  if (event.key === '/' && !isTyping && view instanceof MatrixView) {
    event.preventDefault();
    view.focusFilter();
  } else if (event.key === 'Escape' && view instanceof OperatorView) {
    choose(null);
  }
});
editor.postMessage({ type: 'ready', operator: kept.operator, call: kept.call });
