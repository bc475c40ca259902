/** docs/certificates.md: its checker in Python takes what holds, and refuses what was changed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policies, weightings } from 'folkmoot';
import { expect, test } from 'vitest';
import { document, fenced } from '../../own-client/markdown.js';
import { temporaryFolder } from '../../support/fixture.js';
import { type Forged, forged, linksOf, votesIn } from './chain.js';
import { certificateOf, town } from './town.js';

/** Debian's packages belong to Debian's Python, which need not be the first one on the path. */
const python = ['python3', '/usr/bin/python3'].find((candidate) => {
  try {
    execFileSync(candidate, ['-c', 'import nacl.signing'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
const lacking = python ? '' : ' (skipped: needs python3-nacl)';
const program = fenced(document('docs/certificates.md'), 'python')[0]!;

function run(certificate: string, ...trusted: string[]) {
  const folder = temporaryFolder();
  const [script, file] = [join(folder, 'check.py'), join(folder, 'c.json')];
  writeFileSync(script, program);
  writeFileSync(file, certificate);
  const { status, stdout, stderr } = spawnSync(python!, [script, file, ...trusted]);
  return { holds: status === 0, said: `${stdout}${stderr}` };
}

test('certificates.md: the Python checker is short', () => {
  expect(program.split('\n').length).toBeLessThanOrEqual(151);
});

test.skipIf(!python)(`certificates.md: the Python checker takes what holds${lacking}`, async () => {
  for (const [index, policy] of policies.entries()) {
    const decided = await town(policy, weightings[index]!);
    for (const [status, block] of Object.entries(decided.blocks)) {
      for (const how of [{}, { bridgeBytes: 0 }]) {
        const text = await certificateOf(decided, block, how);
        const { spans } = JSON.parse(text) as Forged;
        const { first, links, after } = spans.at(-1)!;
        const last = first + links.length - 1;
        const { holds, said } = run(text, `${last}:${after.digest}`);
        expect(said).toMatch(new RegExp(`^holds: ${block} of devnet ${status} by `));
        expect(holds).toBe(true);
        expect(run(text, `${last}:${'ab'.repeat(32)}`).said).toContain('refused: digest of entry');
      }
    }
  }
});

test.skipIf(!python)(`certificates.md: the Python checker refuses lies${lacking}`, async () => {
  const decided = await town('bft', 'reputation');
  const text = await certificateOf(decided, decided.blocks.finalized);
  const changes: ((certificate: Forged) => void)[] = [
    (c) => {
      const { entry } = votesIn(c)[1]!;
      entry!.body = entry!.body.replace('"reason":"', '"reason":"not ');
    },
    (c) => {
      const [vote, , other] = votesIn(c);
      Object.assign(other!, structuredClone({ entry: vote!.entry, results: vote!.results }));
    },
    (c) => {
      const link = linksOf(c).find(({ results }) => results.join().includes('["electorates"'));
      link!.results = link!.results.map((one) => one.replace(/"weights":\[\d+/, '"weights":[99'));
    },
    (c) => {
      c.claim.approve = Number(c.claim.approve) + 1;
    },
    (c) => {
      c.claim.network_id = 'mainnet';
    },
  ];
  for (const change of changes) {
    const { holds, said } = run(forged(text, change));
    expect([holds, said]).toEqual([false, expect.stringMatching(/^refused: /)]);
  }
  expect(run(text.replace('"digest":"', '"digest":"0').replace(/0"/, '"')).holds).toBe(false);
});
