/** checkCertificate in a browser, with the client bundle. */
import { checkCertificate } from 'folkmoot';
import { bundle, origin } from '../../client/bundle.js';
import { browser, browserTest, useBrowser } from '../../support/browser.js';
import { decide, named } from './decided.js';
import { forgedText, forgeries, valid } from './forgeries.js';

const inPage = (texts: string[]) => {
  const { checkCertificate: check } = (
    globalThis as unknown as { folkmoot: typeof import('folkmoot/client') }
  ).folkmoot;
  return texts.map((text) => check(text));
};

/** V8 versions report different line numbers in JSON errors. */
const withoutLine = (results: unknown): unknown =>
  JSON.parse(JSON.stringify(results).replaceAll(/ \(line \d+ column \d+\)/g, ''));

useBrowser();

browserTest('browser: checks valid and invalid certificates', async () => {
  const good = await valid();
  const bad = [` ${good[0]!}`];
  for (const forgery of forgeries) bad.push(await forgedText(forgery));
  const texts = [...good, ...bad];
  const { text } = await bundle();
  const from = await origin(text, "default-src 'none'; script-src 'self'");
  const tab = await browser.newPage();
  await tab.goto(from);
  const found = await tab.evaluate(inPage, texts);
  const inNode = texts.map((one) => checkCertificate(one));
  expect(withoutLine(found)).toEqual(withoutLine(inNode));
  const expected = [...good.map(() => true), ...bad.map(() => false)];
  expect(found.map(({ holds }) => holds)).toEqual(expected);
});

browserTest('browser: recomputes polls decided by every rule', async () => {
  const policies = [...named, 'lines', 'module'];
  const seed = Date.now() % 1e9;
  const texts: string[] = [];
  for (const policy of policies) texts.push(...(await decide({ policy, seed, blocks: 3 })));
  expect(texts.length, `seed ${seed}`).toBeGreaterThan(policies.length);
  const { text } = await bundle();
  const from = await origin(text, "default-src 'none'; script-src 'self'");
  const tab = await browser.newPage();
  await tab.goto(from);
  const found = await tab.evaluate(inPage, texts);
  expect(found, `seed ${seed}`).toEqual(texts.map((one) => checkCertificate(one)));
  expect(found.every(({ holds }) => holds)).toBe(true);
});
