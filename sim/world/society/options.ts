/** What a world of scripted agents is made of. */
import type { SignedRequest } from '../../../engine/internal.js';
import type { ScriptedAgent } from '../../agents/port/agent.js';
import type { Asking } from '../../agents/port/asking.js';
import type { Behaviour, CallLoop } from '../../agents/port/behaviour.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Faults } from '../links/faults.js';
import type { Links } from '../links/links.js';
import type { Uplinks } from '../links/uplinks.js';
import type { Observer } from '../observer.js';
import type { Intervening } from './intervening.js';

export interface SocietyOptions {
  scenario: Scenario;
  networkId: string;
  agents: ScriptedAgent[];
  /** What the agents do when they are called on. */
  behaviour: Behaviour;
  /** How they are called one after another; left out, simply so. */
  callLoop?: CallLoop;
  /** Where decisions come from that are not made here; left out, all are. */
  asking?: Asking;
  neighbours: number[][];
  faults: Faults;
  links: Links;
  /** Null where none has a limit. */
  uplinks: Uplinks | null;
  seedNumber: number;
  startMs: number;
  observer: Observer;
  /** What is made to be otherwise; left out, nothing. */
  intervening?: Intervening;
  /** The block that the first ones are built on; left out, genesis. */
  head?: string;
  /** Sees each request on its way, and may change it: faults for tests. */
  inTransit?: (request: SignedRequest) => SignedRequest;
}
