import { browserTest, useBrowser } from '../support/browser.js';
import { modes, open } from './browser.js';
import { type CrowdOptions, crowd } from './crowd.js';
import { isLive } from './voters.js';

useBrowser();

async function served(options: Partial<CrowdOptions> = {}) {
  const there = await crowd({ agents: 40, votes: 1_500, eventsPerSecond: 0, ...options });
  onTestFinished(() => there.close());
  return there;
}

browserTest('page: reports an entry past the newest', async () => {
  const { url, picture: snapshot } = await served();
  const { tab, complaints } = await open(`${url}/ui/?at=99999999`, modes.light);
  await tab.getByTestId('notice').getByText(String(snapshot.entry)).waitFor();
  await open(`${url}/ui/?at=-3%22%3E`, modes.light);
  expect(complaints).toEqual([]);
});

browserTest('page: starts over with another history', async () => {
  const there = await served({ eventsPerSecond: 50 });
  const { tab } = await open(`${there.url}/ui/`, modes.light);
  await isLive(tab);
  await there.stop();
  there.picture.epoch = 'two';
  await there.start();
  await tab.getByTestId('notice').waitFor();
  await isLive(tab);
});

browserTest('page: has no transitions with reduced motion', async () => {
  const { url } = await served({ eventsPerSecond: 50 });
  const mode = { ...modes.light, reducedMotion: 'reduce' as const };
  const { tab } = await open(`${url}/ui/`, mode);
  const tweens = await tab.evaluate(() =>
    [...document.querySelectorAll('*')].filter(
      (element) => getComputedStyle(element).transitionDuration !== '0s',
    ),
  );
  expect(tweens).toEqual([]);
});
