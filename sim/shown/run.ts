/** A run as a server knows it whose network is shown: while it is made, or afterwards. */
import type { KnownDecisions, KnownGraph, KnownRun } from '../../api/contract/run.js';
import type { ServedNetwork } from '../../engine/internal.js';
import type { SimResult } from '../run/result.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Cast } from './cast.js';
import { keptDecisions } from './decisions.js';
import { keptGraph } from './graph.js';

/** Of a folder that `sim --out` left, whose network is served. */
export function keptRun(folder: string, result: SimResult, network: ServedNetwork): KnownRun {
  const cast = new Cast(result.scenario, result.seed);
  let graph: KnownGraph | string | undefined;
  return {
    placeOf: cast.placeOf,
    idAt: cast.idAt,
    graph() {
      graph ??= keptGraph(folder, result, { network, cast });
      return graph;
    },
    decisions: keptDecisions(folder),
  };
}

const later = 'what votes rest on is known once the run is over: folkmoot explore DIR shows it';
const never =
  'what votes rest on is not recorded; folkmoot sim --set measure.decisions=true --out DIR does';

/** Of a run that is made: `hears` is to be called when its world is there. */
export function madeRun(scenario: Scenario): KnownRun & { hears(graph: KnownGraph): void } {
  const { placeOf, idAt } = new Cast(scenario, scenario.seed);
  let graph: KnownGraph | string = 'the run has not begun';
  const decisions: KnownDecisions | string = scenario.measure.decisions ? later : never;
  return {
    placeOf,
    idAt,
    graph: () => graph,
    decisions,
    hears(drawn) {
      graph = drawn;
    },
  };
}
