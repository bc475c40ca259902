/** Differences between platforms, with the platform given. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stopSignals } from '../../../dist/cli/output/exit.js';
import { syncFile, syncFolder } from '../../../dist/engine/store/folder.js';
import { syncFolder as syncLater } from '../../../dist/report/folder.js';
import { temporaryFolder } from '../../support/fixture.js';

test('platforms: Windows flushes no folder, and other platforms open it', async () => {
  const missing = join(temporaryFolder(), 'missing');
  const code = expect.objectContaining({ code: 'ENOENT' });
  expect(() => syncFolder(missing, 'linux')).toThrow(code);
  await expect(syncLater(missing, 'darwin')).rejects.toEqual(code);
  syncFolder(missing, 'win32');
  await syncLater(missing, 'win32');
  const folder = join(temporaryFolder(), 'there');
  mkdirSync(folder);
  syncFolder(folder);
  await syncLater(folder);
});

test('platforms: syncing a file changes nothing in it', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, 'content');
  syncFile(file);
  expect(readFileSync(file, 'utf8')).toBe('content');
});

test('platforms: Ctrl+Break and a closed console stop a server on Windows', () => {
  expect(stopSignals('win32')).toEqual(['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']);
  for (const platform of ['linux', 'darwin'] as const) {
    expect(stopSignals(platform)).toEqual(['SIGINT', 'SIGTERM']);
  }
});
