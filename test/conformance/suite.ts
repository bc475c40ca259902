/**
 * Conformance suite for the HTTP and WebSocket interface. `start` returns the addresses of any
 * server with an empty network.
 */
import type { Start } from '../support/service/world.js';
import { agentTests, limitTests, socialTests } from './agents.js';
import { errorTests } from './errors.js';
import { eventTests } from './events.js';
import { consensusTests, networkTests } from './network.js';
import { socketTests } from './sockets.js';

export function conformance(name: string, start: Start): void {
  describe(`conformance of ${name}`, () => {
    agentTests(start);
    consensusTests(start);
    networkTests(start);
    socialTests(start);
    socketTests(start);
    eventTests(start);
    errorTests(start);
    limitTests(start);
  });
}
