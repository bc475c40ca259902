/** /api/v1/scenario: what is known of the agents of a network that a scenario made. */
import { refuse } from '../../../engine/internal.js';
import { success } from '../response/envelope.js';
import type { Showing } from './shown.js';

export const scenario: Showing = async ({ services: { scenario: known } }) =>
  known
    ? success(200, known)
    : { refusal: refuse('UNKNOWN_SCENARIO', 'no scenario is known of this network') };
