/**
 * A watcher that is not reading. Nothing is queued, and the watcher learns which entries were
 * skipped.
 */
import { setImmediate } from 'node:timers/promises';
import { composeRegister, createVerifier, generateKeyPair, signatory } from 'folkmoot';
import { Watchers } from '../../../dist/api/socket/watch.js';
import { ViewLog } from '../../../dist/api/view/log/view-log.js';
import { decodeRowBatch } from '../../../dist/api/view/row-batch.js';
import { Network } from '../../../dist/engine/index.js';

const EVERY_MS = 100;
/** Number of rounds, which make more frames than the cache holds. */
const ROUNDS = 70;

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

/** A socket with a configurable number of buffered bytes. */
class Held {
  readonly addressKey = 'here';
  readonly together = null;
  readonly texts: object[] = [];
  readonly spans: { from: number; to: number }[] = [];
  backlog = 0;
  cork = (work: () => void) => work();
  bufferedBytes = () => this.backlog;
  ping() {}
  close() {}
  send(text: string | Uint8Array): boolean {
    this.texts.push(JSON.parse(text.toString()));
    return true;
  }
  sendBytes(bytes: Uint8Array): boolean {
    const { from, to } = decodeRowBatch(bytes);
    this.spans.push({ from, to });
    return true;
  }
}

test('watch: queues nothing for a slow watcher, reports the gap, and continues', async () => {
  const verifier = createVerifier('inline');
  const genesis = { network_id: 'slow' };
  const network = await Network.open({ memory: true, genesis, verifier });
  const view = new ViewLog(network);
  const clock = { holds: 'nothing' as const, paused: false, speed: null, until: null, at: '' };
  const control = {
    ...{ kind: 'live' as const, can: [], clock: () => clock },
    ...{ do: async () => null, onChange: () => () => {} },
  };
  const faults: unknown[] = [];
  const onFault = (error: unknown) => faults.push(error);
  const watchers = new Watchers({ network, view, control, perAddress: () => 2, onFault });
  onTestFinished(async () => {
    watchers.close();
    await view.close();
    await network.close();
    await verifier.close();
  });
  const watched = (socket: Held) => {
    watchers.add({ socket, everyMs: EVERY_MS, cursor: 0, dueAt: 0, onEnd() {} }, undefined);
    return socket;
  };
  const reads = watched(new Held());
  const stuck = watched(new Held());
  expect(watchers.takes('here')).toBe(false);
  stuck.backlog = Number.POSITIVE_INFINITY;

  /** Commits one more entry, and waits for its frame. */
  async function round(): Promise<void> {
    const made = watchers.frames;
    const me = { personality: 'lawful', name: 'Ada', capabilities: ['validator'] as const };
    const request = composeRegister(signatory(generateKeyPair()), new Date().toISOString(), me);
    expect((await network.submit(await network.verify(request))).result).toBe('accepted');
    while (watchers.frames === made && faults.length === 0) {
      vi.advanceTimersByTime(EVERY_MS);
      await setImmediate();
    }
    await setImmediate();
  }

  for (let count = 0; count < ROUNDS; count += 1) await round();
  expect(stuck.spans).toEqual([]);
  expect(stuck.texts).toHaveLength(1);
  const entries = Array.from({ length: ROUNDS }, (_, at) => ({ from: at + 1, to: at + 1 }));
  expect(reads.spans).toEqual(entries);

  stuck.backlog = 0;
  await round();
  expect(stuck.texts.at(-1)).toEqual({ type: 'skipped', from: 1, to: ROUNDS + 1 });
  await round();
  expect(stuck.spans).toEqual([{ from: ROUNDS + 2, to: ROUNDS + 2 }]);
  expect([watchers.skipped, faults]).toEqual([1, []]);
});
