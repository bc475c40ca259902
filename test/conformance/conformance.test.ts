/** The conformance suite against this server, over both of its transports. */
import { createVerifier } from 'folkmoot';
import { afterAll } from 'vitest';
import { serve, transports } from '../support/service/server.js';
import { conformance } from './suite.js';

/** As `folkmoot serve` verifies: in threads, so that answers take a while. */
const verifier = createVerifier('pool');
afterAll(() => verifier.close());

for (const transport of transports) {
  conformance(transport, (limits) => serve({ transport, limits, verifier }));
}
