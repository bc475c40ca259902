/** Certificates as a forger would change them, who makes the digests fit: what gives each away. */
import { checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { type Forged, forged, linksOf, votesIn } from './chain.js';
import { three } from './town.js';

function problemOf(certificate: string): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.problem;
}

const voteOf = (certificate: Forged, index: number) => votesIn(certificate)[index]!;

/** Changes a text among the results of a link. */
function retell(link: { results: string[] }, from: string | RegExp, to: string): void {
  const before = link.results.join();
  link.results = link.results.map((one) => one.replace(from, to));
  expect(link.results.join()).not.toBe(before);
}

/** A vote once more in the place of an entry between votes. */
function twice(certificate: Forged): void {
  const [first, , third] = votesIn(certificate);
  const { entry, results } = structuredClone(first!);
  Object.assign(third!, { entry, results });
}

const lies: [string, RegExp, (certificate: Forged) => void][] = [
  [
    'a vote with another decision',
    /counts another vote|signature/,
    (c) => {
      const { entry } = voteOf(c, 1);
      entry!.body = entry!.body.replace('"approve"', '"reject"');
    },
  ],
  [
    'a vote whose reason was changed',
    /the signature of the vote/,
    (c) => {
      const { entry } = voteOf(c, 1);
      entry!.body = entry!.body.replace('"reason":"', '"reason":"not ');
    },
  ],
  ['a vote twice', /counts another vote|votes twice/, twice],
  [
    'a vote left out',
    /is not in the certificate/,
    (c) => {
      delete voteOf(c, 2).entry;
    },
  ],
  [
    'a vote that does not count any more',
    /voted is|recomputed|rest/,
    (c) => {
      const vote = voteOf(c, 2);
      delete vote.entry;
      vote.results = vote.results.filter((one) => !one.startsWith('["votes"'));
    },
  ],
  [
    'a vote by another key',
    /tells of another vote|signature/,
    (c) => {
      voteOf(c, 0).entry!.public_key = voteOf(c, 1).entry!.public_key;
    },
  ],
  [
    'another weight',
    /recomputed it is|already decided/,
    (c) => {
      const link = linksOf(c).find(({ results }) =>
        results.some((one) => /^\["electorates"/.test(one)),
      );
      retell(link!, /"weights":\[(\d+),/, '"weights":[99,');
    },
  ],
  [
    'a weight that none can have',
    /no elector weighs/,
    (c) => {
      const link = linksOf(c).find(({ results }) =>
        results.some((one) => /^\["electorates"/.test(one)),
      );
      retell(link!, /"weights":\[(\d+),/, '"weights":[1000,');
    },
  ],
  [
    'an elector less',
    /not as many weights as agents/,
    (c) => {
      const link = linksOf(c).find(({ results }) =>
        results.some((one) => /^\["electorates"/.test(one)),
      );
      retell(link!, /"agents":\[0,/, '"agents":[');
    },
  ],
  [
    'another network',
    /makes block/,
    (c) => {
      const { entry } = linksOf(c)[0]!;
      entry!.body = entry!.body.replace('"devnet"', '"mainnet"');
      c.claim.network_id = 'mainnet';
    },
  ],
  [
    'another network in the claim alone',
    /begins the network devnet/,
    (c) => {
      c.claim.network_id = 'mainnet';
    },
  ],
  [
    'another weighting',
    /no elector weighs/,
    (c) => {
      const { entry } = linksOf(c)[0]!;
      entry!.body = entry!.body.replace('"reputation"', '"equal"');
    },
  ],
  [
    'a longer voting period',
    /deadline is/,
    (c) => {
      const { entry } = linksOf(c)[0]!;
      entry!.body = entry!.body.replace('"voting_period_ms":1000', '"voting_period_ms":2000');
    },
  ],
  [
    'another height in the claim',
    /height is/,
    (c) => {
      c.claim.height = 7;
    },
  ],
  [
    'another outcome in the claim',
    /is rejected; it is finalized/,
    (c) => {
      c.claim.status = 'rejected';
    },
  ],
  [
    'more approval in the claim',
    /\d+; it is \d+/,
    (c) => {
      c.claim.approve = Number(c.claim.approve) + 1;
    },
  ],
  [
    'another tally in the log',
    /recomputed it is/,
    (c) => {
      retell(linksOf(c).at(-1)!, /"approve":\d+,"block_hash"/, '"approve":9000,"block_hash"');
    },
  ],
  [
    'another transaction',
    /makes block/,
    (c) => {
      const { entry } = linksOf(c).find((one) => one.entry?.kind === 'propose')!;
      entry!.body = entry!.body.replace('"data":"é', '"data":"e');
    },
  ],
  [
    'another signature of the proposal',
    /signature of the proposal/,
    (c) => {
      const { entry } = linksOf(c).find((one) => one.entry?.kind === 'propose')!;
      const body = JSON.parse(entry!.body);
      body.signature = body.signature.replace(/^../, (pair: string) =>
        pair === 'ab' ? 'cd' : 'ab',
      );
      entry!.body = JSON.stringify(body);
    },
  ],
  [
    'a proposal that is no JSON',
    /not JSON/,
    (c) => {
      linksOf(c).find((one) => one.entry?.kind === 'propose')!.entry!.body = '{';
    },
  ],
  [
    'a result that is no JSON',
    /not JSON/,
    (c) => {
      retell(voteOf(c, 0), /^\["votes",(.*)\]$/, '["votes",$1');
    },
  ],
  [
    'a network without signatures',
    /sign nothing/,
    (c) => {
      const { entry } = linksOf(c)[0]!;
      entry!.body = entry!.body.replace('{', '{"signatures":"none",');
    },
  ],
];

test.each(lies)('forged with digests that fit: %s', async (_, problem, change) => {
  const { text } = await three();
  expect(problemOf(forged(text, change))).toMatch(problem);
});

test('forged: a veto of a personality that another elector has, too', async () => {
  const { vetoed } = await three();
  const shared = forged(vetoed, (c) => {
    const greedy = linksOf(c).filter(({ results }) =>
      results.some((one) => one.startsWith('["agents"') && one.includes('"greedy"')),
    );
    retell(greedy.at(-1)!, '"personality":"greedy"', '"personality":"lawful"');
  });
  expect(problemOf(shared)).toMatch(/vetoed is true; recomputed it is false|state is rejected/);
});
