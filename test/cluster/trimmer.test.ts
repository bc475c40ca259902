/**
 * The trimmer deletes batches that all nodes have stored, and limits the amount kept for absent
 * nodes.
 */
import { bounds } from '../../dist/cluster/node/bounds.js';
import { Trimmer } from '../../dist/cluster/node/ticker.js';
import type { Card, Position } from '../../dist/cluster/order/order.js';

const MIB = 2 ** 20;

function cardOf(node: string, version: number, peer = ''): Card {
  const times = { began: 0, wall: 0 };
  const place = { position: placeOf(version), seq: 0, event_seq: 0, digest: '' };
  return { node, incarnation: node, ...times, ...place, url: '', peer, version: '' };
}

const placeOf = (version: number): Position => ({ version, revision: version * 3 });

/** Trims as n1 alongside n2. Returns the position trimmed to after `batches` batches of 1 MiB. */
async function trimmed(batches: number, cards: Card[], alive: string[]) {
  const trims: number[] = [];
  const warnings: string[] = [];
  const order = {
    cards: async () => cards,
    trim: async ({ version }: Position) => void trims.push(version),
  };
  const warn = (text: string) => void warnings.push(text);
  const trimmer = new Trimmer({ order, node: 'n1', alive: () => alive, warn });
  for (let version = 1; version <= batches; version += 1) {
    trimmer.came(placeOf(version), MIB);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { trims, warnings };
}

test('trimmer: trims up to the position of the slowest node', async () => {
  const cards = [cardOf('n1', 100), cardOf('n2', 70)];
  expect(await trimmed(100, cards, ['n2'])).toEqual({ trims: [70, 70, 70], warnings: [] });
  expect(await trimmed(10, cards, ['n2'])).toEqual({ trims: [], warnings: [] });
});

test('trimmer: only one node trims', async () => {
  const cards = [cardOf('n1', 100), cardOf('n0', 100)];
  expect(await trimmed(100, cards, ['n0'])).toMatchObject({ trims: [] });
});

test('trimmer: keeps 64 MiB for an absent node if a peer serves snapshots', async () => {
  const cards = [cardOf('n1', 200, 'https://n1'), cardOf('n2', 200), cardOf('n3', 5)];
  const { trims, warnings } = await trimmed(200, cards, ['n2']);
  expect([warnings, trims.slice(0, 2)]).toEqual([[], [5, 5]]);
  const last = trims.at(-1)!;
  const kept = 192 - last;
  // Marks are 2 MiB apart, and a batch is slightly larger than its requests.
  expect(kept).toBeGreaterThanOrEqual(bounds.keptBytes / MIB - 1);
  expect(kept).toBeLessThan(bounds.keptBytes / MIB + 4);
});

test('trimmer: keeps all batches and warns if no peer serves snapshots', async () => {
  const cards = [cardOf('n1', 200), cardOf('n2', 200), cardOf('n3', 5, 'https://n3')];
  const { trims, warnings } = await trimmed(200, cards, ['n2']);
  expect(new Set(trims)).toEqual(new Set([5]));
  expect(warnings.at(-1)).toContain('n3');
  expect(warnings.at(-1)).toContain('cluster forget');
});
