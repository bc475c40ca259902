/** Loss and duplication at the configured rate, even for very small rates. */
import { completeScenario } from 'folkmoot/sim';
import { mix } from '../../../../dist/sim/rng.js';
import { Faults } from '../../../../dist/sim/world/faults.js';
import { Links, NETWORK } from '../../../../dist/sim/world/links.js';

function linksWith(loss: number, duplication = 0): Links {
  const agents = [{ group: 'a', count: 4, producers: 1 }];
  const scenario = completeScenario({ title: 't', agents, links: { loss, duplication } });
  return new Links(scenario, { traces: new Map() }, new Faults(scenario, '1', 0));
}

test.each([
  [4e-7, 20_000_000],
  [0.001, 1_000_000],
  [0.3, 100_000],
])('loss %d: loses the expected number of %d messages', (loss, count) => {
  const links = linksWith(loss);
  let lost = 0;
  for (let number = 0; number < count; number += 1) {
    if (links.fails(mix(5, number), 0, 1, 0)) lost += 1;
  }
  expect(Math.abs(lost - count * loss)).toBeLessThan(4.4 * Math.sqrt(count * loss));
});

test('loss 0 and 1: loses none and all; duplication likewise', () => {
  const [none, all] = [linksWith(0), linksWith(1)];
  for (let number = 0; number < 1_000; number += 1) {
    expect([none.fails(number, 0, 1, 0), all.fails(number, 0, 1, 0)]).toEqual([false, true]);
    expect(linksWith(0, 0).copyOf(number)).toBeNull();
  }
  expect(linksWith(0, 1).copyOf(3)).not.toBeNull();
  expect(all.delivery(1, 0, 0)).toBeGreaterThan(NETWORK);
});
