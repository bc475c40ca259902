/**
 * Files of the version of November 2026: a saved run with a cassette, a data folder with archived
 * entries, a certificate and an exported page. This version reads all of them, recomputes the same
 * digests, and continues the folder.
 */
import { chmodSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { composeRegister } from 'folkmoot';
import { browserTest, useBrowser } from '../support/browser.js';
import { folkmoot } from '../support/cli.js';
import { logText, replayJson, simJson } from '../support/command.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../support/fixture.js';
import { linesOf } from '../support/runs.js';
import { offline, settled } from '../ui/exported/file.js';

const written = fileURLToPath(new URL('../vectors/2026-11/', import.meta.url));

const run = {
  entries: 61,
  digest: 'f2d28b0eb8fa3a47fc54f544ec50e3b4176f10bcc496285ae5163baed34e26e9',
  log_digest: '5820058ee7c5fd22b279515c205e1e6f9a7a85b44058e80210c146df2b51d04e',
};
const data = {
  entries: 1033,
  digest: '60d64f44b0a6b571835b3c67cff4071113376c2ec18c085df9bbb9c0d836613b',
  log_digest: '6b8312832bcc8d67b95959a5164aafec8a3813f81f23ce24889da2b6aec19d69',
};

/** Copies a folder, and restores the permissions that version control loses. */
function copyOf(name: string): string {
  const folder = join(temporaryFolder(), name);
  cpSync(join(written, name), folder, { recursive: true });
  chmodSync(folder, 0o700);
  return folder;
}

test('saved run: replays, and every reading command accepts it', async () => {
  const folder = copyOf('run');
  expect(await replayJson(folder, '--signatures')).toMatchObject({ match: true, ...run });
  expect(linesOf(await logText(folder))).toHaveLength(run.entries);
  const commands = [
    ['check', folder],
    ['why', folder, '2', '--mechanical'],
    ['events', folder, '--format', 'csv'],
    ['compare', folder, folder],
    ['explore', folder, '--export', join(temporaryFolder(), 'page.html')],
  ];
  for (const args of commands) {
    const { code, stderr } = await folkmoot(args);
    expect([args[0], code], stderr).toEqual([args[0], 0]);
  }
});

test('cassette: reproduces the run without the decider', async () => {
  const folder = copyOf('run');
  const out = join(temporaryFolder(), 'again');
  const scenario = join(written, 'town.yaml');
  const { json } = await simJson(scenario, '--cassette', folder, '--out', out);
  expect(json).toMatchObject({ digest: run.digest, log_digest: run.log_digest });
});

test('data folder: replays with its archive, and accepts a request', async () => {
  const path = copyOf('data');
  expect(await replayJson(path, '--signatures')).toMatchObject({ match: true, ...data });
  const genesis = { network_id: 'old-network' };
  const { network, submit } = await testNetwork({ path, genesis });
  const request = composeRegister(signatoryOf(1), '2026-11-25T15:00:00.000Z', {
    ...{ name: 'Latecomer', personality: 'lawful', capabilities: ['validator'] },
  });
  expect(await submit(request)).toMatchObject({ result: 'accepted' });
  await network.close();
  const after = await replayJson(path, '--signatures');
  expect(after).toMatchObject({ match: true, first_divergence: null });
  expect(after.entries).toBeGreaterThan(data.entries);
});

test('certificate: proves its block', async () => {
  const { code, stderr } = await folkmoot(['check-certificate', join(written, 'certificate.json')]);
  expect(code, stderr).toBe(0);
});

useBrowser();
browserTest('exported page: opens', async () => {
  const { tab, complaints } = await offline(join(written, 'page.html'));
  const [words] = await settled(tab);
  expect(words).not.toBe('');
  expect(complaints).toEqual([]);
});
