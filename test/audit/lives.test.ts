/** Random lives with the auditor beside them: engine and model never differ. */
import fc from 'fast-check';
import { createVerifier, Network, virtualClock } from 'folkmoot';
import { Auditor, violationText } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { counts } from '../counts.js';
import { START_MS } from '../engine/citizens.js';
import { attempts, genesis } from '../engine/random.js';
import { auditedLife } from './life.js';

const verifier = createVerifier('off');

test('audit: random lives hold every rule', { timeout: 900_000 }, async () => {
  const life = fc.asyncProperty(
    genesis,
    attempts(counts.commandsPerSequence),
    async (options, script) => {
      const clock = virtualClock(START_MS);
      const network = await Network.open({ memory: true, genesis: options, verifier, clock });
      const auditor = new Auditor(network.genesis);
      const violation = await auditedLife({ network, clock, auditor }, script);
      await network.close();
      expect(violation && violationText(violation)).toBeNull();
    },
  );
  await fc.assert(life, { numRuns: counts.commandSequences });
});
