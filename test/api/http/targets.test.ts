/** Malformed request-targets are refused alike over HTTP and in process. */
import { type CommandKind, carriage } from 'folkmoot';
import { admit } from 'folkmoot/testing';
import { expect, test } from 'vitest';
import { changed } from '../../engine/admit/admission.js';
import { world } from '../../support/service/server.js';

/** Starts a server with a registered key, because the target is checked after the key. */
async function server() {
  const running = await world();
  const { publicKey } = await running.join('ada');
  return Object.assign(running, { key: publicKey });
}

const agents = '/api/v1/agents';
const alliances = '/api/v1/social/alliances';
const ally = `ally_${'0'.repeat(32)}`;

test.each<[CommandKind, string, string]>([
  ['status', `${agents}/bob/status`, 'UNKNOWN_AGENT'],
  ['status', `${agents}/agent_${'A'.repeat(32)}/status`, 'UNKNOWN_AGENT'],
  ['status', `${agents}/%00/status?a=/b`, 'UNKNOWN_AGENT'],
  ['status', `${agents}//status`, 'UNKNOWN_ROUTE'],
  ['status', `${agents}/bob/now/status`, 'UNKNOWN_ROUTE'],
  ['status', `${agents}/bob/status/now`, 'UNKNOWN_ROUTE'],
  ['alliance_respond', `${alliances}/x/respond`, 'UNKNOWN_ALLIANCE'],
  ['alliance_respond', `${alliances}/x/y/respond`, 'UNKNOWN_ROUTE'],
  ['alliance_respond', `${alliances}/${ally}/answer`, 'UNKNOWN_ROUTE'],
  ['alliance_leave', `${alliances}/${ally}x/leave`, 'UNKNOWN_ALLIANCE'],
  ['alliance_leave', `${alliances}//leave`, 'UNKNOWN_ROUTE'],
  ['alliance_leave', `${alliances}/${ally}/leave/`, 'UNKNOWN_ROUTE'],
])('targets: %s at %s is %s', async (kind, target, reason) => {
  const { url, network, key } = await server();
  const timestamp = new Date().toISOString();
  const request = { ...changed(kind, {}), target, timestamp, public_key: key };
  const admission = admit(request, network.genesis.network_id);
  expect('refusal' in admission && admission.refusal.reason).toBe(reason);
  const headers = {
    'Content-Type': 'application/json',
    'X-Agent-Public-Key': request.public_key,
    'X-Timestamp': request.timestamp,
    'X-Agent-Signature': request.signature,
  };
  const { method } = carriage[kind];
  const body = Buffer.from(request.body);
  const answer = await fetch(`${url}${target}`, { method, headers, body });
  const { error } = (await answer.json()) as { error: { details: { reason: string } } };
  expect(error.details.reason).toBe(reason);
});
