/** Does one thing again and again, one at a time; of the wishes that come meanwhile only one is left. */
export class Latest {
  private isRunning = false;
  private isWanted = false;

  constructor(private readonly work: () => Promise<void>) {}

  ask(): void {
    this.isWanted = true;
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.work();
      }
    } finally {
      this.isRunning = false;
    }
  }
}
