/** The block view recounts the ballots of every rule in the browser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from 'folkmoot/api';
import { completeScenario, simulate } from 'folkmoot/sim';
import { decideBlocks, named } from '../../engine/certificate/decided.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { temporaryFolder } from '../../support/fixture.js';
import { modes, open } from '../browser.js';
import { explore } from '../folder.js';

useBrowser();

/** Seed with which every rule that chooses an option does so. */
const seed = 11;

browserTest.each([...named, 'lines', 'module'])(
  'block view: recounts a block decided by %s',
  async (policy) => {
    const { people, hashes } = await decideBlocks({ policy, seed, blocks: 5 });
    const { network } = people;
    const server = await startServer({ network, port: 0, limits: 'off', version: '1.0.0' });
    onTestFinished(() => server.close());
    const chosen = hashes.find((hash) => network.read.block(hash)?.choice !== undefined);
    const hash = chosen ?? hashes.at(-1)!;
    const { status, choice, standings } = network.read.block(hash)!;
    const { tab, complaints } = await open(`${server.url}/ui/block/${hash}`, modes.light);
    const checks = tab.locator('.checks');
    await checks.getByText(/The hash matches/).waitFor();
    expect(await checks.locator('.failed').count()).toBe(0);
    if (policy === 'module') await checks.getByTestId('not-run').waitFor();
    else {
      const outcome = choice === undefined ? status : `${status}, with the choice ${choice}`;
      await checks.getByText(`These votes give the outcome ${outcome}.`).waitFor();
    }
    const heading = await tab.getByRole('heading', { level: 1 }).innerText();
    expect(heading).toContain(choice === undefined ? status : `${status}: ${choice} is chosen`);
    const rule = network.genesis.policy;
    const isByWeight = /^(bft|majority|veto|threshold|unanimity)$/.test(rule);
    expect(heading.includes('enough weight')).toBe(isByWeight && status === 'finalized');
    const shown = await tab.getByTestId('standings').locator('tbody tr').count();
    expect(shown).toBe(Object.keys(standings ?? {}).length);
    expect(complaints).toEqual([]);
  },
);

browserTest('block view: names options as election data does', async () => {
  const folder = temporaryFolder();
  const names = ['Zoë', '東京'].map((name, at) => `# ALTERNATIVE NAME ${at + 1}: ${name}`);
  writeFileSync(
    join(folder, 'data.soc'),
    ['# DATA TYPE: soc', '# NUMBER ALTERNATIVES: 2', ...names, '3: 1,2', '2: 2,1', ''].join('\n'),
  );
  const strategy = { kind: 'ballots', file: 'data.soc' };
  const raw = {
    title: 'an election',
    agents: [{ group: 'voters', count: 5, producers: 1, traits: { abstains: 0 }, strategy }],
    consensus: { policy: 'schulze', voting_period_ms: 8_000, dormant_after: 0 },
    length: { blocks: 1 },
  };
  const out = join(folder, 'run');
  await simulate(completeScenario(raw, folder), { folder, out });
  const origin = await explore(out, onTestFinished);
  const { tab } = await open(`${origin}/ui/block`, modes.light);
  await tab.getByTestId('choice').getByText('Zoë').waitFor();
  const rows = tab.getByTestId('standings').locator('tbody th');
  expect(await rows.allInnerTexts()).toEqual(['Zoë', '東京']);
  expect(await tab.getByText('Zoë > 東京').count()).toBe(3);
});
