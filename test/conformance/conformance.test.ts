/** The conformance suite against this server, with both transports. */
import { createVerifier } from 'folkmoot';
import { serve, transports } from '../support/service/server.js';
import { conformance } from './suite.js';

/** Verifies in threads, as `folkmoot serve` does, so that responses are delayed. */
const verifier = createVerifier('pool');
afterAll(() => verifier.close());

for (const transport of transports) {
  conformance(transport, (limits) => serve({ transport, limits, verifier }));
}
