/** Takes the last build away: what has no source any more would be shipped and found by tests. */
import { rmSync } from 'node:fs';

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
