/** A busy town for interventions, and the first difference between the logs of two runs. */
import { join } from 'node:path';
import { storedLines } from 'folkmoot';
import {
  completeScenario,
  firstDivergence,
  type LogDifference,
  type SimResult,
  simulate,
} from 'folkmoot/sim';
import { openForReading, suiteFolder } from '../../support/runs.js';
import type { Raw } from '../fixture.js';

export const lively = (sections: Raw = {}): Raw => ({
  title: 'A lively town',
  signatures: 'none',
  seed: '11',
  agents: [
    { group: 'town', count: 20, producers: 3 },
    { group: 'hill', count: 8, strategy: { kind: 'follower' } },
    { group: 'mute', count: 2, strategy: { kind: 'silent' } },
  ],
  social: {
    ...{ memes: { rate: 15 }, discussion: { rate: 5 }, alliances: { rate: 10 } },
    occasion_ms: 4_000,
  },
  links: { loss: 0.02 },
  consensus: { voting_period_ms: 15_000 },
  length: { blocks: 8 },
  ...sections,
});

export interface Kept {
  folder: string;
  result: SimResult;
}

let kept = 0;

/** Runs with interventions; saves the runs in a folder of the calling file. */
export function runsHere() {
  const folders = suiteFolder();
  return async (raw: Raw, interventions: readonly Raw[] = []): Promise<Kept> => {
    const scenario = completeScenario({ ...raw, interventions });
    kept += 1;
    const folder = join(folders, `${kept}`);
    return { folder, result: await simulate(scenario, { out: folder, verifier: 'inline' }) };
  };
}

const storeOf = ({ folder }: Kept) => openForReading(join(folder, 'network'));

/** First difference between two runs; null if their logs are equal. */
export async function parting(a: Kept, b: Kept): Promise<LogDifference | null> {
  const stores = [storeOf(a), storeOf(b)] as const;
  try {
    const [one, other] = stores.map((store) => storedLines(store, 0, store.meta()!.seq));
    return firstDivergence(one!, other!);
  } finally {
    for (const store of stores) await store.close();
  }
}

/** Results that an intervention without effect must not change. */
export function outcomeOf({ result }: Kept) {
  const { digest, log_digest, measures, messages, virtual_ms, refused, ended_by } = result;
  return { digest, log_digest, measures, messages, virtual_ms, refused, ended_by };
}
