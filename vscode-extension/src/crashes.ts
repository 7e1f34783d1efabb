/** How often a server may end by itself before we stop starting it again. */

const MOST = 4;
const WITHIN = 3 * 60_000;
/** Milliseconds: who crashes more than `MOST` times in this time will do so again. */

export class Crashes {
  private times: number[] = [];

  /** The server has ended at `now`, in milliseconds; whether to start it once more. */
  isWorthAnotherTry(now: number): boolean {
    this.times = [...this.times.filter((time) => now - time < WITHIN), now];
    return this.times.length <= MOST;
  }
}
