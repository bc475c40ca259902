/** Encoding what the engine did: canonical JSON, and the frames that both digests cover. */
import {
  canonical,
  Digests,
  decodeEntry,
  encodeStep,
  splitStored,
} from '../../../engine/internal.js';
import { defineCase, type Round } from '../../case.js';
import { encodePast, historyOf } from '../../fixtures/history.js';
import { Population } from '../../fixtures/population.js';
import { rateOver } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  blocks: number;
  seconds: number;
}

const VALIDATORS = 1_000;

async function run({ blocks, seconds }: Configuration, { seed }: Round): Promise<Row[]> {
  const past = await historyOf(await Population.of(VALIDATORS, seed), blocks);
  const votes = past.filter(({ request }) => request.kind === 'vote');
  const digests = new Digests();
  const stored = votes.map((one) => encodePast(one, digests).entry.bytes);
  const results = encodeStep(votes[0]!.step).results;
  const rate = <T>(name: string, items: readonly T[], work: (item: T) => unknown): Row => {
    const { perSecond, cpuUs } = rateOver(items, work, seconds);
    return { name, per_s: perSecond, cpu_us: cpuUs };
  };
  const events = votes.flatMap(({ step }) => step.events);
  return [
    rate('an event, canonical JSON', events, canonical),
    rate('the same by JSON.stringify, in any order', events, (event) => JSON.stringify(event)),
    rate("a vote's step: events, records", votes, ({ step }) => encodeStep(step)),
    rate("a vote's entry: frame, both digests", votes, ({ entry }) =>
      digests.advance(entry, results),
    ),
    rate('the same decoded', stored, (bytes) => decodeEntry(splitStored(bytes).bytes)),
  ];
}

export const encodeCase = defineCase<Configuration>({
  name: 'encode',
  about: 'canonical JSON, frames and digests of votes',
  sizes: { small: { blocks: 4, seconds: 0.2 }, large: { blocks: 32, seconds: 2 } },
  run,
});
