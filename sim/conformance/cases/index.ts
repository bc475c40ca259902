/** All cases of vectors, in the order of the suite. */
import type { Case } from '../harness.js';
import { bodies, contents, credentials } from './admission.js';
import { alliances } from './alliances.js';
import { attendance } from './attendance.js';
import { policies } from './consensus.js';
import { life, quota, refusals } from './life.js';
import { cases as letterCase, times, words } from './texts.js';

export const vectorCases: readonly Case[] = [
  life,
  bodies,
  credentials,
  contents,
  times,
  words,
  letterCase,
  refusals,
  alliances,
  ...policies,
  ...attendance,
  quota,
];
