/** What the table's page and the extension say to each other. */
import type { Call, Matrix, Place, Table, Why } from '../protocol';

/** From the extension to the page. */
export type ToPage =
  | { readonly type: 'matrix'; readonly matrices: readonly Matrix[] }
  | { readonly type: 'operator'; readonly table: Table; readonly why: Why; readonly explain: boolean }
  | { readonly type: 'problem'; readonly message: string };

/** From the page to the extension. */
export type FromPage =
  | { readonly type: 'ready'; readonly operator: string | null; readonly call: Call }
  | { readonly type: 'open'; readonly place: Place }
  | { readonly type: 'operator'; readonly operator: string | null; readonly call: Call };

/** A call of the plainest kind. */
export const PLAIN_CALL: Call = {
  device: 'cpu',
  layout: 'strided',
  requiresGrad: false,
  autocast: false,
  inferenceMode: false,
  functionalize: false,
  transforms: [],
  mode: null,
};
