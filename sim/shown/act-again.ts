/**
 * What interventions of a run did to what agents hear: those that acted, at the time at which they
 * did. Whatever else they did is in the log.
 */
import type { EventData, ServedNetwork } from '../../engine/internal.js';
import { Numbers } from '../run/interventions/numbers.js';
import { START_MS } from '../run/options.js';
import type { Acted } from '../run/result.js';
import { Names, selectedBy } from '../scenario/interventions.js';
import type { Intervention, Named } from '../scenario/schema/interventions/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Faults } from '../world/links/faults.js';
import type { Links } from '../world/links/links.js';
import { Alliances } from '../world/society/alliances.js';
import type { Cast } from './cast.js';

interface Around {
  seed: string;
  faults: Faults;
  links: Links;
  network: ServedNetwork;
  cast: Cast;
}

export function actAgain(scenario: Scenario, acted: readonly Acted[], around: Around): void {
  const names = new Names(scenario);
  for (const [place, intervention] of scenario.interventions.entries()) {
    const { at_ms: atMs } = acted[place] ?? { at_ms: null };
    if (typeof atMs === 'number') act(intervention, { ...around, scenario, names, place, atMs });
  }
}

interface Acting extends Around {
  scenario: Scenario;
  names: Names;
  place: number;
  atMs: number;
}

/** As `acts` of the run has them. */
function act(intervention: Intervention, acting: Acting): void {
  const { scenario, names, place, seed, faults, links, atMs } = acting;
  const at = START_MS + atMs;
  if (intervention.kind === 'silence') {
    const membersOf = (alliance: Named) => membersAt(alliance, at, acting);
    const those = selectedBy(scenario, names, intervention.whom, { place, seed, membersOf });
    for (const ordinal of those) faults.silence(ordinal, at);
  } else if (intervention.kind === 'link') {
    const { between, loss } = intervention;
    const [a = 0, b = 0] = between.map((end) => names.ordinalOf(end));
    if (loss !== undefined) links.setOwn(a, b, { from: at, loss });
  } else if (intervention.kind === 'set' && intervention.path === 'links.loss') {
    links.setLoss(Number(intervention.value), at);
  }
}

/** Who was of an alliance at an instant, by what was told of it before. */
function membersAt(alliance: Named, at: number, { network, cast }: Acting): readonly number[] {
  const { read } = network;
  const ordinalOf = (id: string) => {
    const agent = read.record('agents', id);
    return (agent && cast.placeOf(agent)) ?? -1;
  };
  const alliances = new Alliances(ordinalOf);
  const numbers = new Numbers();
  for (const { type, json, seq } of read.eventTexts(1, read.position.event_seq)) {
    if (type !== 'alliance_update') continue;
    const { data } = JSON.parse(json) as { data: EventData['alliance_update'] };
    if (Date.parse(data.timestamp) >= at) break;
    numbers.happened({ type, data, seq });
    alliances.update(data);
  }
  const id = numbers.alliance(alliance);
  return id === undefined ? [] : alliances.membersOf(id);
}
