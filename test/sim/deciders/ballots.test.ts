/** Deciders that propose options and cast ballots. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import { atOnce, deciderServer, type Posted, runIn, town } from './fixture.js';

const schema = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../../../docs/deciders.schema.json', import.meta.url)),
    'utf8',
  ),
);

/** Runs a town whose minds produce all blocks and answer with these ballots. */
async function elect(ballotOf: (question: Posted) => unknown, retries = 0) {
  const decider = await deciderServer((question) => {
    if (question.kind === 'produce') return { do: 'propose', options: ['red', 'green'] };
    return { do: 'vote', decision: 'approve', ballot: ballotOf(question) };
  });
  const scenario = town(
    { url: decider.url, asks: ['vote', 'produce'], retries, ...atOnce },
    {
      agents: [
        {
          group: 'minds',
          count: 4,
          producers: 1,
          strategy: {
            ...{ kind: 'http', url: decider.url, asks: ['vote', 'produce'], retries },
            ...atOnce,
          },
        },
      ],
      consensus: { policy: 'plurality', voting_period_ms: 5_000, dormant_after: 0 },
      length: { blocks: 2 },
    },
  );
  const folder = temporaryFolder();
  const out = join(folder, 'run');
  const result = await runIn(scenario, out, { deciders: { record: true } });
  await decider.close();
  const again = await runIn(scenario, join(folder, 'again'), { deciders: { cassette: out } });
  expect(again.digest).toBe(result.digest);
  return { result, decider, out };
}

test('a question describes options and rule, and the rule counts the ballots', async () => {
  const { result, decider, out } = await elect(({ agent }) => ({
    option: agent === 0 ? 'red' : 'green',
  }));
  expect(result).toMatchObject({ verdict: 'pass' });
  const standings = csvRows(join(out, 'blocks.csv')).map((block) => JSON.parse(block.standings!));
  expect(standings).toEqual(Array(2).fill({ red: 1, green: 3 }));
  const votes = decider.asked.filter(({ kind }) => kind === 'vote');
  expect(votes).toHaveLength(8);
  const validate = new Ajv2020({ strict: false }).compile(schema);
  for (const question of decider.asked) {
    expect(validate(question), JSON.stringify(validate.errors)).toBe(true);
    expect(question.view.rule).toMatchObject({
      policy: 'plurality',
      ballot: { properties: { option: { type: 'string' } } },
    });
  }
  expect(votes[0]!.view.block).toMatchObject({ options: ['red', 'green'] });
  expect(votes.at(-1)!.view.head).toMatchObject({ choice: 'green', standings: { green: 3 } });
});

test('a ballot that the rule does not accept makes the answer invalid', async () => {
  const { result } = await elect(({ agent }) => ({ option: agent === 1 ? 'blue' : 'red' }), 1);
  expect(result.deciders).toMatchObject({ failures: { wrong: 2 } });
  expect(result.verdict).toBe('pass');
});
