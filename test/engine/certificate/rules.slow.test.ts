/** docs/check-certificate.py recomputes the decisions of every rule as checkCertificate does. */
import { checkCertificate } from 'folkmoot';
import { decide, named } from './decided.js';
import { lacking, output, python } from './python.js';
import { amend, amendBody, amendEvent, closing, forged, own, votesIn } from './town.js';

const networks = 2;

/** Returns forged variants of a certificate: counts, a voter's decision, and the outcome. */
function forgedOf(text: string): string[] {
  const grown = forged(text, (c) => {
    const grow = (value: Record<string, unknown>) => {
      const standings = { ...(value.standings as Record<string, number> | undefined) };
      const [name = 'a'] = Object.keys(standings);
      value.standings = { ...standings, [name]: (standings[name] ?? 0) + 1 };
    };
    amend([closing(c)], own(c), ({ context }) => grow(context));
    amendEvent([closing(c)], 'block_status', grow);
  });
  const turned = forged(text, (c) => {
    const turn = (value: Record<string, unknown>) =>
      (value.decision = value.decision === 'approve' ? 'reject' : 'approve');
    const [vote] = votesIn(c);
    amendBody([vote!], 'vote', turn);
    amend([vote!], '["votes",', turn);
    amendEvent([vote!], 'block_validation', turn);
  });
  const status = (c: Parameters<typeof own>[0]) =>
    c.claim.status === 'finalized' ? 'rejected' : 'finalized';
  const ended = forged(text, (c) => {
    const other = status(c);
    amend([closing(c)], own(c), { state: other });
    amendEvent([closing(c)], 'block_status', { status: other });
    c.claim.status = other;
  });
  return [grown, turned, ended];
}

/** Returns the standings that the Python program prints; null without a line for them. */
function standingsIn(lines: readonly string[]): unknown {
  const line = lines.find((one) => one.startsWith('standings: '));
  return line === undefined ? null : JSON.parse(line.slice('standings: '.length));
}

function provenStandings(text: string): unknown {
  const checked = checkCertificate(text);
  return (checked.holds && checked.standings) || null;
}

/** The record of a block differs from the count, or a signature does not match. */
const refused = /^refused: (the record|the signature|a vote after|the height|the event|the claim)/;

test.skipIf(!python).each([...named, 'lines', 'module'])(
  `check-certificate.py: recomputes polls decided by %s${lacking}`,
  async (policy) => {
    const seed = Date.now() % 1e9;
    const texts: string[] = [];
    for (let index = 0; index < networks; index += 1) {
      texts.push(...(await decide({ policy, seed: seed + index, blocks: 5 })));
    }
    expect(texts.length, `seed ${seed}`).toBeGreaterThan(0);
    for (const text of texts) expect(checkCertificate(text).holds).toBe(true);
    const found = output(texts).map((text) => text.split('\n'));
    for (const [first] of found) expect(first, `seed ${seed}`).toMatch(/^holds: /);
    const ties = texts.map((text) => {
      const checked = checkCertificate(text);
      return (checked.holds && checked.tied?.winners) ?? [];
    });
    const told = found.map((said) => {
      const [, names = '[]'] = /^tied: (\[.*\]): /m.exec(said.join('\n')) ?? [];
      return JSON.parse(names) as string[];
    });
    expect(told, `seed ${seed}`).toEqual(ties);
    expect(found.map(standingsIn), `seed ${seed}`).toEqual(texts.map(provenStandings));
    const unproven = found.filter((said) => said.some((line) => line.startsWith('not proven')));
    expect(unproven.length).toBe(policy === 'module' ? texts.length : 0);
    // A checker that does not run the module accepts any outcome that its record allows.
    if (policy === 'module') return;
    const lies = texts.flatMap(forgedOf);
    for (const lie of lies) expect(checkCertificate(lie).holds).toBe(false);
    for (const line of output(lies)) expect(line, `seed ${seed}`).toMatch(refused);
  },
);

test.skipIf(!python).each([
  { size: 1, for_bps: 5_000 },
  { size: 7, of_drawn: 0, for_bps: 5_000 },
  { size: 300, for_bps: 6_000 },
  { size: 690, for_bps: 4_000 },
  { size: 10_000, for_bps: 6_667 },
])(`check-certificate.py: draws the committees of %o${lacking}`, async (parameters) => {
  const seed = Date.now() % 1e9;
  const texts: string[] = [];
  for (let index = 0; index < 2; index += 1) {
    const how = { policy: 'committee', seed: seed + index, blocks: 6, parameters };
    texts.push(...(await decide(how)));
  }
  for (const line of output(texts)) expect(line, `seed ${seed}`).toMatch(/^holds: /);
});
