/** The collector against a slow recomputation, over random lives of a network. */
import fc from 'fast-check';
import { createVerifier, type Event, type GenesisOptions, Network, virtualClock } from 'folkmoot';
import type { TableRows } from '../../../dist/sim/measure/results.js';
import {
  type Attempt,
  attempts,
  lead,
  genesis as someGenesis,
} from '../../engine/random/random.js';
import { START_MS } from '../../support/citizens.js';
import { counts } from '../../support/counts.js';
import { agentsIn, collect, eventsOf, timeOf } from './fixture.js';
import { blocksOf, expectedGroup, expectedMeasures, type Told } from './model.js';

const groups = ['north', 'south', 'empty'];
/** Of nine agents, the last two are outside the scenario, and the eighth never registers. */
const agents = agentsIn(['north', 'north', 'south', 'south', 'north', 'south', 'north']);

async function lived(genesis: GenesisOptions, script: Attempt[]) {
  const clock = virtualClock(START_MS);
  const verifier = createVerifier('off');
  const onFatal = (error: Error) => {
    throw error;
  };
  const network = await Network.open({ memory: true, genesis, verifier, clock, onFatal });
  await lead(network, clock, script, {
    take: async (request) => network.submit(await network.verify(request)),
    jumped: () => network.fireDeadlines(),
    look: () => network.durable,
  });
  return { network, endMs: clock.now() };
}

/** Invents the notes of agents from the numbers of the events. */
function causeOf(event: Event & { type: 'block_validation' }, agent: number) {
  const { seq, data } = event;
  const ids = ['a', 'b', 'c'].slice(0, seq % 4);
  const memes = ids.slice(0, seq % 2);
  const note = {
    ...{ agent, block: data.block_hash, decision: data.decision },
    ...{ withoutMemes: ([null, 'approve', 'reject'] as const)[seq % 3]!, receivedMemes: ids },
    memeReferences: memes,
  };
  return { from: agent, note, memes, bytes: 1 };
}

function tell(events: Event[]) {
  const collected = collect(groups, agents);
  const { collector } = collected;
  const soundness = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'block_proposal' && event.seq % 5 > 0) {
      const percent = event.seq % 2 === 0 ? 100 : 60;
      soundness.set(event.data.block_hash, percent);
      const senders = event.data.transactions.map((_, index) => index);
      const block = event.data.block_hash;
      collector.published({ block, soundness: percent, hasMeme: false, senders });
    }
    const agent = agents.findIndex(
      ({ id }) => event.type === 'block_validation' && id === event.data.validator.id,
    );
    const noted = event.type === 'block_validation' && agent >= 0 && event.seq % 7 > 0;
    collector.event(event, timeOf(event), noted ? causeOf(event, agent) : null);
  }
  return { ...collected, soundness };
}

/** Expects equality up to rounding to six decimals. */
function expectClose(found: Record<string, unknown>, expected: Record<string, unknown>) {
  for (const [name, value] of Object.entries(expected)) {
    if (typeof value === 'number') expect(found[name], name).toBeCloseTo(value, 5);
    else expect(found[name], name).toBe(value);
  }
}

test('measures, groups and tables: equal a recomputation from the log', async () => {
  const seen = { decided: 0, pairs: 0, alliances: 0, expired: 0 };
  const property = fc.asyncProperty(
    someGenesis,
    attempts(counts.commandsPerSequence),
    async (options, script) => {
      const { network, endMs } = await lived(options, script);
      const events = eventsOf(network);
      const { collector, rows: votes, soundness } = tell(events);
      const { measures, tables } = collector.finish(network.read, endMs);
      const run: Told = { events, votes, agents, network, endMs, soundness };
      expectClose(measures, expectedMeasures(run));
      for (const row of tables['groups.csv'])
        expectClose(row, expectedGroup(run, row.group as string));
      expectTables(run, tables);
      seen.decided += (measures.finalized ?? 0) + (measures.rejected ?? 0);
      seen.expired += measures.expired ?? 0;
      seen.alliances += measures.alliances ?? 0;
      seen.pairs += measures.agreement_between === null ? 0 : 1;
      await network.close();
    },
  );
  // A few lives may contain too few values to prove anything, so the test adds rounds.
  const enough = () => Object.values(seen).every((count) => count > 3);
  for (let round = 0; round === 0 || (round < 10 && !enough()); round += 1)
    await fc.assert(property, { numRuns: counts.measuredLives });
  expect(enough(), JSON.stringify(seen)).toBe(true);
});

function expectTables(run: Told, tables: TableRows) {
  const rows = [...tables['blocks.csv']];
  const blocks = blocksOf(run);
  expect(rows.map(({ block_hash }) => block_hash)).toEqual(blocks.map(({ hash }) => hash));
  for (const [index, row] of rows.entries()) {
    const { status, votes, transactions } = blocks[index]!;
    expect(row).toMatchObject({ number: index, status, votes: votes.length, transactions });
    const { electorate, approve, reject } = run.network.read.block(row.block_hash as string)!.tally;
    expect(row).toMatchObject({ electorate, approve, reject });
  }
  const cast = (agent: number) => run.votes.filter((vote) => vote.agent === agent).length;
  for (const row of tables['agents.csv']) {
    expect(row.votes, `votes of ${row.ordinal}`).toBe(cast(row.ordinal as number));
    const view = run.network.read.agent(agents[row.ordinal as number]!.id);
    expect([row.status, row.overall_score]).toEqual([
      view?.status ?? null,
      view?.reputation_score ?? null,
    ]);
  }
  const last = new Map([...tables['series.csv']].map((r) => [`${r.measure}/${r.group ?? ''}`, r]));
  expect(last.get('votes/')).toMatchObject({ value: run.votes.length, t_ms: run.endMs - START_MS });
}
