/** The pace of a live run: pausing, stepping and resuming do not affect its log. */
import type { Network } from 'folkmoot';
import { completeScenario, type SimResult, simulate } from 'folkmoot/sim';
import type { ControlCommand } from '../../../../dist/api/contract/control.js';
import { Pace } from '../../../../dist/sim/run/pace.js';

const agents = [{ group: 'town', count: 12, producers: 3 }];
const scenario = completeScenario({ title: 'Paced', agents, length: { blocks: 5 } });
const options = { verifier: 'inline', store: 'memory', seed: '7' } as const;
const alone = await simulate(scenario, options);

interface Paced {
  pace: Pace;
  network: Network;
  /** Windows that have begun. */
  windows(): number;
  ended: Promise<SimResult>;
}

/** Starts a paced run; resolves when its network is open. */
function paced(how: { paused?: boolean; signal?: AbortSignal } = {}): Promise<Paced> {
  const pace = new Pace(how);
  let windows = 0;
  return new Promise((resolve) => {
    const ended = simulate(scenario, options, {
      ...(how.signal ? { signal: how.signal } : {}),
      async onNetwork(network) {
        pace.begin(network);
        resolve({ pace, network, windows: () => windows, ended });
        return async () => pace.end();
      },
      pace(now) {
        const waits = pace.pace(now);
        const count = () => {
          windows += 1;
        };
        return waits ? waits.then(count) : void count();
      },
      onOver: pace.over,
    });
    ended.catch(() => {});
  });
}

const digests = ({ digest, log_digest, entries }: SimResult) => ({ digest, log_digest, entries });

test('pace: does nothing while paused, runs one window per step, ends when resumed', async () => {
  const { pace, network, windows, ended } = await paced({ paused: true });
  await pace.do({ do: 'pause' });
  expect([windows(), network.read.position.seq]).toEqual([0, 0]);
  for (let steps = 1; steps <= 20; steps += 1) {
    await pace.do({ do: 'step' });
    expect(windows()).toBe(steps);
    expect(pace.clock().paused).toBe(true);
    // The reads of a paused run include everything that it did.
    expect(network.backlog).toBe(0);
  }
  expect(network.read.position.seq).toBeGreaterThan(0);
  await pace.do({ do: 'resume' });
  expect(digests(await ended)).toEqual(digests(alone));
});

test('pace: runs until a block, an outcome or a time, and no further', async () => {
  const { pace, network, ended } = await paced({ paused: true });
  const paused = () =>
    new Promise<void>((resolve) => {
      const stop = pace.onChange(() => {
        if (!pace.clock().paused) return;
        stop();
        resolve();
      });
    });
  const goesUntil = async (until: Extract<ControlCommand, { do: 'until' }>['until']) => {
    const before = network.read.position.event_seq;
    const stopped = paused();
    await pace.do({ do: 'until', until });
    await stopped;
    await pace.do({ do: 'pause' });
    return [...network.read.events(before + 1, network.read.position.event_seq)];
  };
  const proposals = await goesUntil({ what: 'block' });
  expect(proposals.filter(({ type }) => type === 'block_proposal')).toHaveLength(1);
  const outcomes = await goesUntil({ what: 'outcome', status: 'finalized' });
  const closed = outcomes.flatMap((one) => (one.type === 'block_status' ? [one.data.status] : []));
  expect(closed.filter((status) => status === 'finalized')).toHaveLength(1);
  expect(closed.at(-1)).toBe('finalized');
  const before = Date.parse(pace.clock().at);
  await goesUntil({ what: 'time', ms: 2_000 });
  expect(Date.parse(pace.clock().at)).toBeGreaterThanOrEqual(before + 2_000);
  expect(pace.clock()).toMatchObject({ until: null, paused: true, holds: 'run' });
  await pace.do({ do: 'resume' });
  expect(digests(await ended)).toEqual(digests(alone));
});

test('pace: a run whose `until` is never met waits at its end until it is resumed', async () => {
  const { pace, ended } = await paced({ paused: true });
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  await pace.do({ do: 'until', until: { what: 'outcome', status: 'orphaned' } });
  await expect.poll(() => pace.clock().paused).toBe(true);
  await pace.do({ do: 'step' });
  await pace.do({ do: 'until', until: { what: 'block' } });
  await pace.do({ do: 'pause' });
  expect(isOver).toBe(false);
  await pace.do({ do: 'resume' });
  expect(digests(await ended)).toEqual(digests(alone));
});

test('pace: answers a waiting caller when another caller resumes the run', async () => {
  const { pace, ended } = await paced();
  await Promise.all([pace.do({ do: 'step' }), pace.do({ do: 'pause' }), pace.do({ do: 'resume' })]);
  expect(digests(await ended)).toEqual(digests(alone));
});

test('pace: an interruption ends a paused run', async () => {
  const stop = new AbortController();
  const { pace, ended } = await paced({ paused: true, signal: stop.signal });
  await pace.do({ do: 'pause' });
  stop.abort();
  await expect(ended).rejects.toThrow(/interrupted after entry/);
});
