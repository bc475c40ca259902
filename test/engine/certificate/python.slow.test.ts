/** docs/check-certificate.py accepts and refuses the same certificates as checkCertificate. */
import { canonical, checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { bases, forgedText, forgeries, otherWeight, valid } from './forgeries.js';
import { changedByte, changedText } from './hostile.js';
import { lacking, python, run } from './python.js';
import { type Forged, forged } from './town.js';

const holds = expect.stringMatching(/^holds: /);
const refused = expect.stringMatching(/^refused: /);

test.skipIf(!python)(`check-certificate.py: accepts valid certificates${lacking}`, async () => {
  const texts = await valid();
  expect(run(texts)).toEqual(texts.map(() => holds));
});

test.skipIf(!python)(`check-certificate.py: refuses every forgery${lacking}`, async () => {
  const texts: string[] = [];
  for (const forgery of forgeries) texts.push(await forgedText(forgery));
  const found = run(texts).map((line, index) => [forgeries[index]![0], line]);
  expect(found).toEqual(forgeries.map(([name]) => [name, refused]));
  // A bug in the program must not pass as a refusal.
  const odd = found.filter(([, line]) => /RecursionError|NameError|UnboundLocalError/.test(line!));
  expect(odd).toEqual([]);
});

test.skipIf(!python)(`check-certificate.py: compares trusted digests${lacking}`, async () => {
  const { text } = await bases();
  const { spans } = JSON.parse(text) as Forged;
  const { first, links, after } = spans.at(-1)!;
  const last = first + links.length - 1;
  const other = forged(text, otherWeight);
  expect(run([text, other], `${last}:${after.digest}`)).toEqual([holds, refused]);
  expect(run([text, other], `${last + 1}:${after.digest}`)).toEqual([refused, refused]);
  expect(run([other])).toEqual([holds]);
});

/** The first seed once changed the name of a member in the record of another block. */
test.skipIf(!python).each([652_002_572, Date.now() % 1e9])(
  `check-certificate.py: agrees about random changes of seed %i${lacking}`,
  async (seed) => {
    const texts = Object.values(await bases());
    const changed: (string | Uint8Array)[] = [];
    for (let index = 0; index < 60; index += 1) {
      changed.push(changedByte(texts[index % texts.length]!, seed + index));
      changed.push(changedText(texts[index % texts.length]!, seed + index));
      const odd = JSON.parse(texts[index % texts.length]!) as Forged;
      Object.assign(odd.claim, { height: [null, true, 1.5, '1', {}][index % 5] });
      changed.push(`${canonical(odd)}\n`);
    }
    const found = run(changed).map((line) => line.startsWith('holds: '));
    const expected = changed.map((one) => checkCertificate(one).holds);
    expect({ seed, found }).toEqual({ seed, found: expected });
  },
);
