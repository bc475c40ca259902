/** Reporter that prints each reason for skipping tests, with the number of skipped tests. */
import type { Reporter, TestModule } from 'vitest/node';

export class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const { note } = test.result() as { note?: string };
        if (note !== undefined) counts.set(note, (counts.get(note) ?? 0) + 1);
      }
    }
    for (const [note, count] of counts) {
      process.stdout.write(`${count} ${count === 1 ? 'test' : 'tests'} skipped: ${note}\n`);
    }
  }
}
