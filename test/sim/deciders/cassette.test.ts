/** Recorded decisions: replayed without a decider, resumed, forked, and damaged. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { completeScenario, simulate } from 'folkmoot/sim';
import { formatLine } from '../../../dist/sim/agents/deciders/cassette.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { atOnce, bySoundness, deciderServer, failing, own, runIn, town } from './fixture.js';

const record = { deciders: { record: true } };
const textIn = (folder: string) => readFileSync(join(folder, 'decisions.cassette'), 'utf8');

async function recorded(sections = {}) {
  const decider = await deciderServer();
  const scenario = town({ url: decider.url, ...atOnce }, sections);
  const folder = temporaryFolder();
  const out = join(folder, 'run');
  const result = await runIn(scenario, out, record);
  return { decider, scenario, folder, out, result, text: textIn(out) };
}

test('cassette: replays fifty agents without the server, and with a lying server', async () => {
  const decider = await deciderServer();
  const minds = { group: 'minds', count: 50, producers: 3 };
  const strategy = { kind: 'http', url: decider.url, ...atOnce };
  const scenario = town({ url: decider.url }, { agents: [{ ...minds, strategy }] });
  const folder = temporaryFolder();
  const first = await runIn(scenario, join(folder, 'first'), record);
  const { questions, asked, calls, failures } = first.deciders!;
  expect([asked, calls, failures]).toEqual([questions, questions, {}]);
  expect(questions).toBe(decider.asked.length);
  expect(first.measures.decider_questions).toBe(questions);
  expect(first.measures.finalized).toBeGreaterThan(0);

  decider.rule = () => ({ do: 'vote', decision: 'reject' });
  const cassette = join(folder, 'first');
  const lied = await runIn(scenario, join(folder, 'lied'), { deciders: { cassette } });
  await decider.close();
  const alone = await runIn(scenario, undefined, { deciders: { cassette } });
  expect([lied.digest, alone.digest]).toEqual([first.digest, first.digest]);
  expect(lied.measures).toEqual(first.measures);
  expect([lied.deciders!.asked, decider.asked.length]).toEqual([0, questions]);
  expect(textIn(join(folder, 'lied'))).toBe(textIn(cassette));
});

test('cassette: asks all questions of an instant at once', async () => {
  const decider = await deciderServer(async (question, response, headers) => {
    // The last waiting question is answered first.
    const turn = decider.asked.length;
    while (decider.asked.length < 4) await new Promise((resolve) => setImmediate(resolve));
    for (let pass = turn; pass < 8; pass += 1) await new Promise((go) => setImmediate(go));
    return bySoundness(question, response, headers);
  });
  const strategy = { url: decider.url, asks: ['hear'], most_at_once: 4 };
  const folder = temporaryFolder();
  const late = await runIn(town(strategy), join(folder, 'late'), record);
  expect(decider.most).toBe(4);
  decider.rule = bySoundness;
  const early = await runIn(town({ ...strategy, most_at_once: 1 }), join(folder, 'early'), record);
  expect(early.digest).toBe(late.digest);
  expect(textIn(join(folder, 'early'))).toBe(textIn(join(folder, 'late')));
});

test('cassette: resumes a run with a spent call budget, and asks nothing twice', async () => {
  const { scenario, decider, folder, result, text } = await recorded();
  const before = decider.asked.length;
  const out = join(folder, 'budget');
  let ends = 0;
  for (;;) {
    const run = runIn(scenario, out, { deciders: { record: true, mostCalls: 3 } });
    const ended = await run.catch((error: Error) => error);
    if (!(ended instanceof Error)) {
      expect(ended.digest).toBe(result.digest);
      break;
    }
    expect(ended.name).toBe('DeciderError');
    expect(ended).toMatchObject({ code: 'BUDGET_SPENT' });
    ends += 1;
  }
  expect(ends).toBe(Math.ceil(before / 3) - 1);
  expect(decider.asked.length).toBe(2 * before);
  expect(textIn(out)).toBe(text);
});

test('cassette: asks only about changed views after a change of the scenario', async () => {
  const { scenario, decider, folder, out } = await recorded({ length: { blocks: 6 } });
  const before = decider.asked.length;
  const longer = { ...scenario, length: { blocks: 8 } };
  const wrong = await failing(runIn(longer, undefined, { deciders: { cassette: out } }));
  expect([wrong.name, wrong.code]).toEqual(['StoreError', 'OTHER_NETWORK']);
  expect(wrong).toMatchObject({ problem: 'CASSETTE_OF_OTHER_SCENARIO' });
  const deciders = { cassette: out, record: true };
  const forked = await runIn(longer, join(folder, 'fork'), { deciders });
  const { questions, asked } = forked.deciders!;
  expect(asked).toBe(decider.asked.length - before);
  expect([questions - asked, asked > 0]).toEqual([before, true]);
  const again = { deciders: { cassette: join(folder, 'fork') } };
  expect((await runIn(longer, undefined, again)).digest).toBe(forked.digest);
});

test('cassette: with interventions, asks only about changed views and for new agents', async () => {
  const { scenario, decider, folder, out } = await recorded({ length: { blocks: 5 } });
  const before = decider.asked.length;
  const forkOf = async (name: string, interventions: unknown[]) => {
    const { title, agents, social, links, consensus, length } = scenario;
    const raw = { title, agents, social, links, consensus, length, signatures: 'none' };
    const fork = completeScenario({ ...raw, interventions });
    const deciders = { cassette: out, record: true };
    const asked = decider.asked.length;
    const result = await runIn(fork, join(folder, name), { deciders });
    return { result, anew: decider.asked.length - asked };
  };
  // Mind 4 votes on block 2 independent of its decider, and decides nothing else.
  const otherwise = { kind: 'vote', agent: 4, block: 2, decision: 'reject', at_ms: 0 };
  const { result, anew } = await forkOf('voted', [otherwise]);
  expect(result.interventions).toEqual([expect.objectContaining({ did: 1 })]);
  expect(result.deciders!.questions).toBe(before);
  expect(anew).toBeGreaterThan(0);
  expect(anew).toBeLessThan(before);
  const strategy = { kind: 'http', url: decider.url, ...atOnce };
  const brought = { kind: 'strategy', whom: [{ agent: 0 }], at_height: 3, strategy };
  const more = await forkOf('brought', [brought]);
  const said = decider.asked.slice(-more.anew);
  expect(said.some(({ agent }) => agent === 0)).toBe(true);
  expect(said.every(({ agent, view }) => agent === 0 || view.now_ms > 0)).toBe(true);
  expect(more.result.deciders!.questions).toBeGreaterThan(before);
});

test('cassette: refuses another scenario, and a run without a source or folder', async () => {
  const { scenario, out, folder, decider } = await recorded();
  // The cassette of a run with different parameters.
  const strategy = { url: decider.url, ...atOnce, parameters: { mood: 'glad' } };
  await runIn(town(strategy), join(folder, 'other'), record);
  const deciders = { cassette: join(folder, 'other') };
  expect((await failing(runIn(scenario, undefined, { deciders }))).code).toBe('OTHER_NETWORK');
  const neither = await failing(runIn(scenario, undefined));
  expect([neither.name, neither.code]).toEqual(['ScenarioError', 'DECIDERS_NEED_SOURCE']);
  expect((await failing(runIn(scenario, undefined, record))).code).toBe('RECORD_NEEDS_OUT');
  expect(out).toContain('run');
});

/** Writes a changed cassette to a separate run folder. */
function changed(folder: string, name: string, text: string | Buffer): string {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'decisions.cassette'), text);
  return join(folder, name);
}

test('cassette: refuses a truncated, edited or duplicated cassette', async () => {
  const { scenario, folder, text, out } = await recorded();
  const lines = text.split('\n');
  const records = lines.length - 3;
  const [damaged, incomplete] = ['CASSETTE_DAMAGED', 'CASSETTE_INCOMPLETE'];
  const format = /folkmoot-cassette-2$/;
  const cases: [name: string, text: string, problem: string, detail: RegExp][] = [
    ['edited', text.replace('"approve"', '"reject"'), damaged, /record \d+$/],
    ['cut', text.slice(0, -100), incomplete, new RegExp(`record ${records - 1}: \\d+ bytes`)],
    ['endless', `${lines.slice(0, -2).join('\n')}\n`, incomplete, /record \d+/],
    ['gap', [...lines.slice(0, 3), ...lines.slice(4)].join('\n'), damaged, /record 3$/],
    ['twice', [...lines.slice(0, 3), ...lines.slice(2)].join('\n'), damaged, /record 3$/],
    ['followed', `${text}${lines[1]}\n`, damaged, /end$/],
    ['empty', '', damaged, /empty/],
    ['other', '{"a":1}\n', damaged, /folkmoot-cassette-2 in its first line$/],
    ['header', lines[0]!.slice(0, 40), damaged, format],
  ];
  for (const [name, given, problem, detail] of cases) {
    const cassette = changed(folder, name, given);
    const error = await failing(runIn(scenario, undefined, { deciders: { cassette } }));
    expect([name, error]).toEqual([name, expect.objectContaining({ name: 'StoreError', problem })]);
    expect(error.message).toMatch(detail);
  }
  const cassette = join(folder, 'nowhere');
  const missing = await failing(runIn(scenario, undefined, { deciders: { cassette } }));
  expect(missing).toMatchObject({ code: 'MISSING', problem: 'CASSETTE_NOT_FOUND' });
  expect(readFileSync(join(out, 'decisions.cassette'), 'utf8')).toBe(text);
});

test('cassette: detects any changed byte, and any missing end', async () => {
  const { scenario, folder, out } = await recorded();
  const bytes = readFileSync(join(out, 'decisions.cassette'));
  let number = 0;
  const cassetteOf = (text: Buffer) => {
    number += 1;
    return changed(folder, `random${number}`, text);
  };
  const at = fc.integer({ min: 0, max: bytes.length - 1 });
  await fc.assert(
    fc.asyncProperty(at, fc.integer({ min: 1, max: 255 }), fc.boolean(), async (place, by, cut) => {
      const other = Buffer.from(cut ? bytes.subarray(0, place) : bytes);
      if (!cut) other[place]! ^= by;
      const deciders = { cassette: cassetteOf(other) };
      expect((await failing(runIn(scenario, undefined, { deciders }))).name).toBe('StoreError');
    }),
    { numRuns: counts.damagedCassettes },
  );
});

test('cassette: asks only half-written answers again after a kill', async () => {
  const { scenario, decider, folder, result, text } = await recorded();
  const lines = text.split('\n');
  const before = decider.asked.length;
  for (const [index, kept] of [2, 5].entries()) {
    const torn = `${lines.slice(0, kept + 1).join('\n')}\n${lines[kept + 1]!.slice(0, 70)}`;
    const out = changed(folder, `killed${index}`, torn);
    // As after a kill: partial tables, and a network that ends anywhere.
    writeFileSync(join(out, '.blocks.csv.part'), 'number');
    copyFileSync(join(folder, 'run', 'agents.csv'), join(out, 'agents.csv'));
    const asked = decider.asked.length;
    const resumed = await runIn(scenario, out, record);
    expect([resumed.digest, textIn(out)]).toEqual([result.digest, text]);
    expect(decider.asked.length - asked).toBe(before - kept);
    expect(resumed.deciders).toEqual({ ...result.deciders, asked: before - kept });
  }
  // The folder of a finished run is refused.
  const whole = await failing(runIn(scenario, join(folder, 'run'), record));
  expect(whole).toMatchObject({ problem: 'OUTPUT_HAS_RUN' });
  const out = changed(folder, 'other', text);
  const wrong = await failing(runIn({ ...scenario, seed: '2' }, out, record));
  expect(wrong).toMatchObject({ problem: 'CASSETTE_IN_OUTPUT' });
  expect(textIn(out)).toBe(text);
});

/** Lines of a cassette that record the start of a call. */
const callsIn = (text: string) =>
  text.split('\n').filter((line) => line.startsWith('{"call":') && !line.includes('"unusable":'));

test('cassette: writes a call to disk before making it', async () => {
  const { scenario, decider, folder, result, text } = await recorded();
  const out = join(folder, 'stopped');
  const end = new AbortController();
  const begun: number[] = [];
  const from = decider.asked.length;
  decider.rule = (question, response, headers) => {
    begun.push(callsIn(textIn(out)).length);
    if (begun.length < 3) return bySoundness(question, response, headers);
    // The third call is never answered.
    end.abort();
    return own;
  };
  const { signal } = end;
  const stopped = await failing(simulate(scenario, { out, ...record }, { signal }));
  expect(stopped.name).toBe('Interrupted');
  const made = decider.asked.length - from;
  const notes = callsIn(textIn(out)).length;
  expect(notes).toBeGreaterThanOrEqual(made);
  for (const [index, count] of begun.entries()) expect(count).toBeGreaterThan(index);
  decider.rule = bySoundness;
  const resumed = await runIn(scenario, out, record);
  const lost = notes - 2;
  const { questions } = result.deciders!;
  expect(resumed.digest).toBe(result.digest);
  const expected = { calls: questions + lost, retries: lost, asked: questions - 2 };
  expect(resumed.deciders).toEqual({ ...result.deciders, ...expected });
  expect(callsIn(textIn(out))).toEqual([]);
  expect(textIn(out).replaceAll(/"calls":\d+|"sum":"\w+"/g, '')).toBe(
    text.replaceAll(/"calls":\d+|"sum":"\w+"/g, ''),
  );
});

test('cassette: reads and resumes format 1', async () => {
  const { scenario, decider, folder, result, text } = await recorded();
  const lines = text.trim().split('\n');
  let before = '';
  const earlier = lines.map((line) => {
    const { sum: _, ...value } = JSON.parse(line.replace('cassette-2', 'cassette-1'));
    const next = formatLine(before, value);
    before = next.sum;
    return next.line;
  });
  const cassette = changed(folder, 'earlier', earlier.join(''));
  const again = await runIn(scenario, undefined, { deciders: { cassette } });
  expect([again.digest, again.measures]).toEqual([result.digest, result.measures]);
  const asked = decider.asked.length;
  const resumed = changed(folder, 'resumed', earlier.slice(0, 4).join(''));
  expect((await runIn(scenario, resumed, record)).digest).toBe(result.digest);
  expect([decider.asked.length - asked, textIn(resumed)]).toEqual([asked - 3, text]);
});
