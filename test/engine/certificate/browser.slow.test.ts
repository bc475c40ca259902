/** A certificate is checked in a browser, by the client's bundle, as it is in Node. */
import { existsSync } from 'node:fs';
import { checkCertificate } from 'folkmoot';
import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { bundle, executablePath, origin } from '../../client/bundle.js';
import { forged, votesIn } from './chain.js';
import { certificateOf, town } from './town.js';

const inPage = (texts: string[]) => {
  const { checkCertificate: check } = (
    globalThis as unknown as { folkmoot: typeof import('folkmoot/client') }
  ).folkmoot;
  return texts.map((text) => check(text));
};

test.skipIf(!existsSync(executablePath))(
  `browser: checks certificates, those that hold and those that do not (needs ${executablePath})`,
  async () => {
    const texts: string[] = [];
    for (const policy of ['bft', 'majority', 'veto'] as const) {
      const decided = await town(policy, 'reputation');
      for (const block of Object.values(decided.blocks)) {
        texts.push(await certificateOf(decided, block, { bridgeBytes: 2_000 }));
      }
    }
    const bad = forged(texts[0]!, (certificate) => {
      const { entry } = votesIn(certificate)[0]!;
      entry!.body = entry!.body.replace('"reject"', '"approve"');
    });
    texts.push(bad, ` ${texts[1]!}`);
    const { text } = await bundle();
    const from = await origin(text, "default-src 'none'; script-src 'self'");
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    onTestFinished(() => browser.close());
    const tab = await browser.newPage();
    await tab.goto(from);
    const found = await tab.evaluate(inPage, texts);
    expect(found).toEqual(texts.map((one) => checkCertificate(one)));
    expect(found.map(({ holds }) => holds)).toEqual([...Array(6).fill(true), false, false]);
  },
);
