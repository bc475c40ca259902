/**
 * Forged ballots, options, choices and standings in certificates. The forger recomputes all digests
 * and adapts everything else that needs no key.
 */
import { checkCertificate, type GenesisOptions } from 'folkmoot';
import { composeVote } from '../../../dist/engine/protocol/compose.js';
import { sha256Hex } from '../../../dist/engine/protocol/signing.js';
import { temporaryFolder } from '../../support/fixture.js';
import { answerOf, newPopulation } from '../helpers.js';
import { certificateOf, type Forged, forged, linksOf, votesIn } from './town.js';

const named = ['a', 'a', 'a', 'b', 'c'];

/** Returns the certificate of a block whose voters name these options; '' names none. */
async function decided(genesis: Partial<GenesisOptions>, ballots = named): Promise<string> {
  const path = temporaryFolder();
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const agents = await people.joinMany(6, ['validator', 'producer']);
  const options = ['a', 'b', 'c'].map((name) => ({ name }));
  const hash = await people.open(agents[0]!, { options });
  for (const [at, option] of [...ballots, ''].entries()) {
    const ballot = option === '' ? {} : { ballot: { option } };
    const fields = { block_hash: hash, decision: 'approve' as const, ...ballot };
    answerOf(await people.submit(composeVote(agents[at]!, people.stamp(), fields)));
  }
  return certificateOf({ path }, hash);
}

/** The rule `plurality` as a module. */
const source = `export default {
  parameters: { least: { default: 1, minimum: 1, maximum: 3 } },
  usesOptions: true,
  ballot: {
    ...{ type: 'object', properties: { option: { type: 'string', maxLength: 64 } } },
    ...{ required: ['option'], additionalProperties: false },
  },
  accepts: ({ option }, _, { options }) => options.includes(option),
  tally({ block: { options }, electors, votes, over }) {
    if (!over) return { status: null };
    const standings = Object.fromEntries(options.map((name) => [name, 0]));
    for (const { elector, ballot } of votes) {
      if (ballot) standings[ballot.option] += electors[elector].weight;
    }
    const best = options.reduce((a, b) => (standings[b] > standings[a] ? b : a));
    return { status: 'finalized', choice: best, standings };
  },
};`;
const rules = [sha256Hex(source)];

let made: Promise<{ plurality: string; module: string }> | null = null;

/** Returns the certificates that these tests change. */
function bases() {
  made ??= (async () => ({
    plurality: await decided({ policy: 'plurality' }),
    module: await decided({ policy: 'module', rule: { source, parameters: { least: 2 } } }),
  }))();
  return made;
}

const codeOf = (certificate: string, allowed: readonly string[] = rules): string => {
  const checked = checkCertificate(certificate, { rules: allowed });
  return checked.holds ? 'holds' : checked.code;
};

/** Replaces a text in all results and requests. */
function rewrite(certificate: Forged, from: string, to: string): void {
  for (const link of linksOf(certificate)) {
    link.results = link.results.map((one) => one.replaceAll(from, to));
    if (link.entry) link.entry.body = link.entry.body.replaceAll(from, to);
  }
}

/** Replaces a text in the vote with this number, in its request, its record and its event. */
function rewriteVote(certificate: Forged, number: number, from: string, to: string): void {
  const link = votesIn(certificate)[number]!;
  link.entry!.body = link.entry!.body.replace(from, to);
  link.results = link.results.map((one) =>
    one.startsWith('["blocks"') || one.includes('"block_status"') ? one : one.replace(from, to),
  );
}

const standings = '"standings":{"a":3,"b":1,"c":1}';

/** Changes the choice in the log and in the claim. */
function chooseOther(certificate: Forged): void {
  rewrite(certificate, '"choice":"a"', '"choice":"b"');
  certificate.claim.choice = 'b';
}

test.each<[what: string, code: string, change: (c: Forged) => void]>([
  ['another choice', 'BLOCK_RECORD', chooseOther],
  ['standings', 'BLOCK_RECORD', (c) => rewrite(c, standings, '"standings":{"a":3,"b":2,"c":0}')],
  ['no standings', 'BLOCK_RECORD', (c) => rewrite(c, `,${standings}`, '')],
  ['an unknown option', 'VOTE_BALLOT', (c) => rewriteVote(c, 4, '"option":"c"', '"option":"d"')],
  ['another ballot', 'VOTE_BALLOT', (c) => rewriteVote(c, 4, '"option":"c"', '"ranking":["c"]')],
])('checkCertificate: refuses %s, under a named rule and a module', async (_, code, change) => {
  for (const base of Object.values(await bases())) {
    expect(forged(base, change)).not.toBe(base);
    expect(codeOf(forged(base, change))).toBe(code);
  }
});

test('checkCertificate: accepts the base certificates of these tests', async () => {
  for (const base of Object.values(await bases())) expect(codeOf(base)).toBe('holds');
});

test('checkCertificate: reports a tie that the order of the options decided', async () => {
  const { plurality } = await bases();
  expect(checkCertificate(plurality)).not.toHaveProperty('tied');
  const tied = await decided({ policy: 'plurality' }, ['c', 'b', 'b', 'c', 'a']);
  const checked = checkCertificate(tied);
  expect(checked).toMatchObject({ holds: true, claim: { choice: 'b' } });
  expect(checked).toMatchObject({ tied: { step: 'sums', winners: ['b', 'c'], exact: true } });
  expect(checked.holds && checked.proves.join()).toContain('tie at sums');
});

test('checkCertificate: without the module, the choice is an assumption', async () => {
  const { module } = await bases();
  for (const allowed of [[], [sha256Hex('another module')]]) {
    const checked = checkCertificate(forged(module, chooseOther), { rules: allowed });
    if (!checked.holds) throw new Error(checked.problem);
    expect(checked.trusts.some((line) => line.includes(rules[0]!))).toBe(true);
    expect(checked.proves.join(' ')).not.toContain('choice');
    // Signatures are also proven without the rule.
    const vote = (c: Forged) => rewriteVote(c, 4, '"option":"c"', '"option":"b"');
    expect(codeOf(forged(module, vote), allowed)).toBe('SIGNATURE');
  }
});

test('checkCertificate: a trusted module gets no parameters beyond its bounds', async () => {
  const { module } = await bases();
  const with9 = (c: Forged) => {
    const { entry } = linksOf(c)[0]!;
    entry!.body = entry!.body.replace('"least":2', '"least":9');
  };
  expect(codeOf(forged(module, with9))).toBe('GENESIS_PARAMETER');
  const other = (c: Forged) => {
    const { entry } = linksOf(c)[0]!;
    entry!.body = entry!.body.replace('"least":2', '"most":2');
  };
  expect(codeOf(forged(module, other))).toBe('GENESIS_PARAMETER');
});

test('checkCertificate: does not treat another module in genesis as the trusted one', async () => {
  const { module } = await bases();
  const change = (c: Forged) => {
    const { entry } = linksOf(c)[0]!;
    entry!.body = entry!.body.replace('standings[b] > standings[a]', 'standings[b] < standings[a]');
  };
  const checked = checkCertificate(forged(module, change), { rules });
  if (!checked.holds) throw new Error(checked.problem);
  expect(checked.trusts.join(' ')).not.toContain(rules[0]);
  expect(checked.trusts.some((line) => /SHA-256 [0-9a-f]{64}/.test(line))).toBe(true);
});
