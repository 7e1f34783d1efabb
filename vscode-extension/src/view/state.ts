/** What the page keeps while it is hidden, or VS Code is closed. */
import type { Call } from '../protocol';
import { PLAIN_CALL } from '../table/messages';
import type { Filter } from './words';

export interface Kept {
  readonly operator: string | null;
  readonly call: Call;
  readonly filter: Filter;
  readonly everyKey: boolean;
}

export const NOTHING_KEPT: Kept = {
  operator: null,
  call: PLAIN_CALL,
  filter: { text: '', namespace: '', onlyMissing: false },
  everyKey: false,
};
