/** The documents: valid and complete. */
import { Parser } from '@asyncapi/parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { type EventType, eventTopics, reasons } from 'folkmoot';
import { closeCodes, perMinute, topics } from 'folkmoot/api';
import { routes } from '../../../dist/api/contract/routes.js';
import { asyncapiDocument, openapiDocument } from '../../../dist/api/documents/documents.js';
import { checkResponse } from '../../support/service/openapi-check.js';

interface Operation {
  operationId: string;
  'x-extension'?: true;
  'x-rate-limit'?: { name: string; per_minute: number };
  responses: Record<string, { $ref?: string }>;
  security: object[];
}
interface Openapi {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: object; schemas: Record<string, { properties: object }> };
}

const openapi = openapiDocument() as unknown as Openapi;
const asyncapi = asyncapiDocument() as unknown as {
  channels: { live: { 'x-close-codes': { code: number }[]; 'x-topics': { name: string }[] } };
  components: {
    messages: Record<string, { 'x-extension'?: true; payload: object }>;
    schemas: Record<string, object>;
  };
};
const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    at: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

test('openapi: passes all recommended lint rules', async () => {
  // The web page's URL ends with a slash, because its assets are below that path.
  const rules = { 'no-path-trailing-slash': 'off' } as const;
  const config = await createConfig({ extends: ['recommended'], rules });
  const problems = await lintFromString({ source: JSON.stringify(openapi), config });
  expect(problems.map((p) => `${p.ruleId}: ${p.message} ${p.location[0]?.pointer}`)).toEqual([]);
});

test('asyncapi: parses without problems', async () => {
  const { document, diagnostics } = await new Parser().parse(JSON.stringify(asyncapi));
  // Ignores the hint that a newer AsyncAPI version exists.
  const wrong = diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version');
  expect([wrong, document?.allOperations().length]).toEqual([[], 8]);
});

test('openapi: has every route once', () => {
  const shape = (at: string) => at.replaceAll(/\{\w+\}/g, '{}');
  const inTable = routes.map(({ method, path }) => shape(`${method} ${path}`));
  expect(operations.map(({ at }) => shape(at)).sort()).toEqual(inTable.sort());
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('openapi: marks all additions to the original interface, and nothing else', () => {
  const given = operations.filter(({ operation }) => !operation['x-extension']);
  expect(given.map(({ at }) => at).sort()).toEqual([
    ...['GET /api/v1/debug/ws/{connection_id}', 'GET /api/v1/network/agents'],
    ...['GET /api/v1/network/state', 'GET /api/v1/social/reputation/{agent_id}'],
    ...['POST /api/v1/agents/register', 'POST /api/v1/blocks/propose'],
    ...['POST /api/v1/consensus/vote', 'POST /api/v1/social/memes'],
    'PUT /api/v1/agents/{agent_id}/status',
  ]);
  const { properties } = openapi.components.schemas.NetworkState!;
  const added = Object.entries(properties).filter(([, shape]) => shape['x-extension']);
  expect(added.map(([name]) => name)).toEqual(['head_hash', 'network_id', 'server_time']);
});

test('openapi: lists every refusal reason that an operation can give', () => {
  const used = JSON.stringify(openapi.components.responses);
  const unused = Object.keys(reasons).filter((reason) => !used.includes(`"${reason}"`));
  // METHOD belongs to no operation; the other reasons are for WebSockets.
  expect(unused.sort()).toEqual([
    ...['METHOD', 'NO_WATCH', 'SOCKET_VERSION', 'UNKNOWN_TOPIC', 'UPGRADE_REQUIRED'],
  ]);
});

test('openapi: documents 401 exactly where an operation declares security', () => {
  const secured = operations.filter(({ operation }) => operation.security.length > 0);
  const refused = operations.filter(({ operation }) => '401' in operation.responses);
  expect(refused.map(({ at }) => at)).toEqual(secured.map(({ at }) => at));
  expect(secured.length).toBeGreaterThan(10);
});

test('openapi: shows every rate limit', () => {
  const limits = operations.flatMap(({ operation }) => operation['x-rate-limit'] ?? []);
  const shown = Object.fromEntries(limits.map(({ name, per_minute }) => [name, per_minute]));
  expect(shown).toEqual(perMinute);
});

test('asyncapi: has every message, topic and close code', () => {
  const { messages } = asyncapi.components;
  const client = ['auth', 'subscribe', 'unsubscribe', 'watch', 'ping'];
  const acks = ['auth_ok', 'subscribed', 'unsubscribed', 'pong'];
  const watched = ['watching', 'skipped', 'clock', 'frame'];
  const events = Object.keys(eventTopics) as EventType[];
  expect(Object.keys(messages)).toEqual([...client, ...acks, ...watched, ...events, 'error']);
  const added = Object.keys(messages).filter((name) => messages[name]!['x-extension']);
  expect(added).toEqual([
    ...[...['unsubscribe', 'watch', 'ping', 'unsubscribed', 'pong'], ...watched, 'block_status'],
  ]);
  const { live } = asyncapi.channels;
  expect(live['x-topics'].map(({ name }) => name).sort()).toEqual([...topics].sort());
  const codes = Object.values(closeCodes).map(({ code }) => code);
  expect(live['x-close-codes'].map(({ code }) => code)).toEqual(codes);
});

test('asyncapi: every message, object and enumeration has a unique title', () => {
  const titles: [string, string | undefined][] = [];
  const visit = (value: unknown, at: string, isRoot = false) => {
    if (typeof value !== 'object' || value === null || '$ref' in value) return;
    const shape = value as { title?: string; properties?: object; enum?: string[] };
    if (isRoot || shape.properties || Array.isArray(shape.enum)) titles.push([at, shape.title]);
    for (const [name, inner] of Object.entries(value)) {
      // A member may be named `properties` or `enum`.
      if (name === 'properties')
        for (const one of Object.values(inner)) visit(one, `${at}/${name}`);
      else visit(inner, `${at}/${name}`);
    }
  };
  const { messages, schemas } = asyncapi.components;
  for (const [name, { payload }] of Object.entries(messages)) visit(payload, name, true);
  for (const [name, schema] of Object.entries(schemas)) visit(schema, name, true);
  expect(titles.filter(([, title]) => !title)).toEqual([]);
  const names = titles.map(([, title]) => title);
  expect(names.filter((title, at) => names.indexOf(title) !== at)).toEqual([]);
  expect(names.length).toBeGreaterThan(60);
});

/** Every answer that the tests get through World passes checkResponse. */
test('checkResponse: reports differences from the document', () => {
  const contentType = 'application/json; charset=utf-8';
  const request = { method: 'GET', target: '/healthz', status: 200, contentType };
  const good = { success: true, data: { status: 'ok' } };
  const problems = (change: object) => checkResponse({ ...request, body: good, ...change }).join();
  expect(problems({})).toBe('');
  expect(problems({ body: { ...good, more: 1 } })).toContain('must NOT have additional properties');
  expect(problems({ body: { success: true, data: { status: 'bad' } } })).toContain('/data/status');
  expect(problems({ status: 201 })).toContain('not documented');
  expect(problems({ contentType: 'text/html' })).toContain('text/html is not documented');
  expect(problems({ target: '/nowhere' })).toContain('expected 404');
  const details = { reason: 'QUOTA', request_id: '' };
  const body = { success: false, error: { code: 'INVALID_REQUEST', message: '', details } };
  const foreign = { target: '/api/v1/agents/x', status: 404, body };
  expect(problems(foreign)).toContain('/error/details/reason must be equal to one of');
});
