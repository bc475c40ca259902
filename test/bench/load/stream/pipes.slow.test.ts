/** Streams of figures into named pipes, whose readers may be absent or hang. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadProgress } from '../../../../dist/bench/load/run.js';
import { Streams } from '../../../../dist/bench/load/streams.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { loadResult } from '../fixture.js';

test('stream: a named pipe needs a reader, which may hang', async () => {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const unread = expect.objectContaining({ problem: 'STREAM_UNREAD' });
  expect(() => new Streams([path], {})).toThrow(unread);
  const hanging = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const streams = new Streams(
    Array.from({ length: 100 }, () => path),
    {},
  );
  for (const second of loadResult({ seconds: 3 }).seconds) {
    streams.onSecond({ second } as LoadProgress);
  }
  expect((await streams.end()).length).toBeGreaterThan(0);
  closeSync(hanging);
});
