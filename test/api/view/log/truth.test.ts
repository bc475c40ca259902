/** Pictures of random lives, at random entries: what the engine's own reads say of that time. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createVerifier, History, KeptNetwork, Network, virtualClock } from 'folkmoot';
import { test } from 'vitest';
import {
  applySpan,
  decodeSpan,
  emptyPicture,
  encodeSpan,
} from '../../../../dist/api/view/index.js';
import { attempts, genesis, Life } from '../../../engine/random/random.js';
import { counts, heavy } from '../../../support/counts.js';
import { START_MS, temporaryFolder } from '../../../support/fixture.js';
import { assertTrue } from './compare.js';
import { viewOf } from './view.js';

const verifier = createVerifier('off');

test('picture: at random entries of random lives it is what the engine reads', heavy, async () => {
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
      // What a watcher sees: each span once, folded onto what went before.
      const letGo = live.watch();
      const watched = emptyPicture(await live.picture(0));
      const look = async () => {
        await live.catchUp();
        while (watched.entry < live.end) {
          const span = await live.span(watched.entry + 1, undefined, { rows: 30 });
          applySpan(watched, decodeSpan(encodeSpan(span)));
        }
      };
      const life = new Life(network);
      const take = async (request: Parameters<Network['verify']>[0]) => {
        const verified = await network.verify(request);
        if (!('refusal' in verified)) network.apply(verified);
        if (draws.next().value! % 5 === 0) await network.durable;
        if (draws.next().value! % 9 === 0) await look();
      };
      for (const request of Life.founders()) await take(request);
      for (const attempt of script) {
        const next = life.next(attempt);
        if (typeof next === 'number') {
          clock.set(clock.now() + next);
          network.fireDeadlines();
          await network.durable;
        } else for (const request of next) await take(request);
      }
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
        assertTrue(await live.picture(at), moment);
        assert.deepEqual(await later.picture(at), await live.picture(at));
      }
      assert.deepEqual(await later.picture(), await live.picture());
      await history.close();
      await later.close();
      await live.close();
      await kept.close();
      await network.close();
    },
  );
  await fc.assert(property, { numRuns: counts.histories });
});
