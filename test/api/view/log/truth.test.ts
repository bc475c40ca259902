/** Snapshots of random networks at random entries equal the engine's reads. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  createVerifier,
  History,
  KeptNetwork,
  Network,
  type SignedRequest,
  virtualClock,
} from 'folkmoot';
import { test } from 'vitest';
import { applyRowBatch, createEmptySnapshot } from '../../../../dist/api/view/reducer.js';
import { decodeRowBatch, encodeRowBatch } from '../../../../dist/api/view/row-batch.js';
import { applied, attempts, genesis, lead } from '../../../engine/random/random.js';
import { START_MS } from '../../../support/citizens.js';
import { counts, heavy } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { assertTrue } from './compare.js';
import { viewOf } from './view.js';

const verifier = createVerifier('off');

test(
  "snapshot: at random entries of random networks equals the engine's reads",
  heavy,
  async () => {
    const property = fc.asyncProperty(
      genesis,
      attempts(counts.commandsPerSequence),
      fc.constantFrom(40, 200, 100_000),
      fc.infiniteStream(fc.nat()),
      async (options, script, chunkRows, draws) => {
        const path = temporaryFolder();
        const clock = virtualClock(START_MS);
        const network = await Network.open({ path, genesis: options, verifier, clock });
        const live = viewOf(network, { chunkRows });
        // Builds a watcher's view, in which each batch is applied once to the previous snapshot.
        const letGo = live.watch();
        const watched = createEmptySnapshot(await live.readSnapshot(0));
        const look = async () => {
          await live.catchUp();
          while (watched.entry < live.end) {
            const batch = await live.readRowBatch(watched.entry + 1, undefined, { rows: 30 });
            applyRowBatch(watched, decodeRowBatch(encodeRowBatch(batch)));
          }
        };
        const take = async (request: SignedRequest) => {
          await applied(network, request);
          if (draws.next().value! % 5 === 0) await network.durable;
          if (draws.next().value! % 9 === 0) await look();
        };
        await lead(network, clock, script, { take });
        await network.durable;
        await look();
        letGo();
        const history = History.open({ path });
        const end = history.end.seq;
        assertTrue(watched, await history.at(end));
        const kept = KeptNetwork.open({ path });
        const later = viewOf(kept, { chunkRows });
        for (let count = 0; count < counts.pictures; count += 1) {
          const at = draws.next().value! % (end + 1);
          const moment = await history.at(at);
          assertTrue(await live.readSnapshot(at), moment);
          assert.deepEqual(await later.readSnapshot(at), await live.readSnapshot(at));
        }
        assert.deepEqual(await later.readSnapshot(), await live.readSnapshot());
        await history.close();
        await later.close();
        await live.close();
        await kept.close();
        await network.close();
      },
    );
    await fc.assert(property, { numRuns: counts.histories });
  },
);
