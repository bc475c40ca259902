/**
 * A log with all kinds of characters, replayed with this Node version and with the listed versions.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeMeme, composeStatus, printLine, storedLines } from 'folkmoot';
import { lowerCase } from '../../../../dist/engine/protocol/text.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { main } from '../../../support/paths.js';
import { openForReading } from '../../../support/runs.js';
import { answerOf, newPopulation, type Population, word } from '../../helpers.js';

const nodes = (process.env.FOLKMOOT_NODES ?? '').split(':').filter((path) => path !== '');

/** Letters with and without case, marks and numbers, from old and recent Unicode versions. */
const tags = ['ΣΟΦΟΣ', 'İİ', 'Ⅷ②', '\u{10d50}\u{105c0}', 'ǅ', 'ꙮ\u{16d40}', 'ẞ', '日本語'];
/**
 * Characters unassigned in the protocol's Unicode version, but letters or marks in a later version.
 */
const later = ['\u{1ad5}', '\u{a7ce}', '\u{16ea0}', '\u{323b0}'];

async function written(population: Population): Promise<string[]> {
  const ada = await population.join(['validator', 'producer'], {
    name: '\u{1ad5}e\u0301\u{e000}\ufdd0',
  });
  const post = (tag: string, text: string) =>
    composeMeme(ada, population.stamp(), { caption: tag, tags: [tag], file: Buffer.from(text) });
  const kept: string[] = [];
  for (const tag of tags) {
    const outcome = await population.submit(post(tag, `\u{1ad5}\u180e${tag}`));
    kept.push(...answerOf<'meme'>(outcome).tags);
  }
  for (const tag of later) expect(word(await population.submit(post(tag, 'gm')))).toBe('SCHEMA');
  const fields = { status: 'active' as const, reason: '\u{1ad5}\u0007', expected_duration: '' };
  await population.submit(composeStatus(ada, population.stamp(), ada.id, fields));
  return kept;
}

test('unicode: this and the listed Node versions replay a log with all kinds of tags', async () => {
  const path = join(temporaryFolder(), 'network');
  expect(await written(await newPopulation({ path }))).toEqual(tags.map(lowerCase));
  const store = openForReading(path);
  const end = store.meta()!;
  const lines = [...storedLines(store, 0, end.seq)].map((line) => JSON.stringify(printLine(line)));
  await store.close();
  const file = join(temporaryFolder(), 'log.ndjson');
  writeFileSync(file, `${lines.join('\n')}\n`);
  for (const node of [process.execPath, ...nodes]) {
    const shown = execFileSync(node, [main, 'replay', file, '--json'], { encoding: 'utf8' });
    expect(JSON.parse(shown), node).toMatchObject({ match: true, digest: end.digest });
  }
});
