/** Tests hostile text on a live server, up to the server's limits. */
import { live } from '../../client/helpers.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { modes, open } from '../browser.js';
import { isLive } from '../voters.js';
import { genesis, harmless, pathsOf, peopled, struck } from './strangers.js';

useBrowser();

browserTest('strangers: shows hostile texts as text in every view', async () => {
  const { url } = await live({ genesis });
  for (const path of pathsOf(await peopled(url))) {
    for (const mode of ['light', 'narrow'] as const) {
      const { tab, complaints } = await open(`${url}/ui/${path}`, modes[mode]);
      await isLive(tab);
      await tab.waitForLoadState('networkidle');
      expect([path, await struck(tab)]).toEqual([path, harmless]);
      expect([path, complaints]).toEqual([path, []]);
      await tab.close();
    }
  }
});

browserTest('strangers: opens memes as still images, or refuses them', async () => {
  const { url } = await live({ genesis });
  await peopled(url);
  const { tab, complaints } = await open(`${url}/ui/talk`, modes.light);
  const memes = tab.locator('.memes li');
  await expect.poll(() => memes.count()).toBe(5);
  // Newest first: a long text, a damaged image, a huge image, an animated image, a huge image.
  const words = [
    ...[/2000 characters/, /damaged image/i, /40000 × 40000/, /first frame/, /30000 × 30000/],
  ];
  for (const [place, said] of words.entries()) {
    const meme = memes.nth(place);
    await meme.getByRole('button').click();
    await meme.getByText(said).waitFor();
  }
  expect([await memes.locator('canvas').count(), await struck(tab)]).toEqual([1, harmless]);
  expect(complaints).toEqual([]);
});
