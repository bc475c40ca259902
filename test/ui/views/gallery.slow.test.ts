/** The page of `folkmoot gallery --watch`: its pictures, and a click that runs a scenario. */
import type { GalleryView } from '../../../dist/api/contract/control.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { begin } from '../../support/running-command.js';
import { accessFaults, modes, open, overflow } from '../browser.js';

useBrowser();

browserTest(
  'gallery: a click runs a scenario and opens its page, with the token only',
  async () => {
    const begun = begin(['gallery', '--watch']);
    const [, url, token] = await begun.printed(/(http:\S+)\/ui\/gallery#token=(\S+) shows/);
    const { tab, complaints } = await open(`${url}/ui/gallery#token=${token}`, modes.light);
    const cards = tab.locator('.gallery > li');
    expect(await cards.count()).toBeGreaterThan(30);
    const card = cards
      .filter({ has: tab.getByRole('heading', { name: 'A cartel buys votes' }) })
      .first();
    expect([await accessFaults(tab), await card.count()]).toEqual([[], 1]);
    await tab.setViewportSize({ width: 390, height: 844 });
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
    await card.getByRole('button').click();
    await tab.waitForURL(/\/ui\/$/);
    await tab.locator('.identity').getByText('A cartel buys votes').waitFor();
    // The token of the run works, and the address no longer shows it.
    await tab.getByRole('button', { name: 'Pause the run' }).waitFor();
    // The run has a server of its own.
    const { host } = new URL(tab.url());
    expect(complaints.filter((line) => !line.includes(host))).toEqual([]);

    const read = async (headers: Record<string, string> = {}) =>
      ((await (await fetch(`${url}/api/v1/gallery`, { headers })).json()) as { data: GalleryView })
        .data.scenarios;
    const pages = (await read({ Authorization: `Bearer ${token}` })).flatMap(
      ({ page }) => page ?? [],
    );
    expect([pages.length, (await read()).flatMap(({ page }) => page ?? [])]).toEqual([1, []]);
    const body = JSON.stringify({ do: 'watch', scenario: 'jury' });
    const refused = await fetch(`${url}/api/v1/control`, { method: 'POST', body });
    expect(refused.status).toBe(401);
    const stranger = await open(`${url}/ui/gallery`, modes['narrow and dark']);
    await stranger.tab.getByText('#token=').waitFor();
    expect(await stranger.tab.getByRole('button').count()).toBe(0);

    begun.child.kill('SIGTERM');
    await begun.ended;
    // The run ends with the gallery.
    await expect
      .poll(() =>
        fetch(new URL(pages[0]!).origin).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  },
);
