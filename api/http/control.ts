/**
 * The endpoint /api/v1/control. Any client may read the clock. Commands need the control token that
 * the server printed. Host and Origin have already been checked.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseJson, refuseJson } from '../../engine/protocol/json.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { refuseMember } from '../../engine/protocol/schema/validate.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { excerpt } from '../../engine/protocol/text.js';
import {
  type ControlCommand,
  type ControlName,
  type ControlView,
  controlCommands,
  describeWorld,
  type KnownPart,
} from '../contract/control.js';
import type { Call, Services } from './handler.js';
import { type Answer, success } from './response.js';

/** Needs no network, so that the page of a load run can use it too. */
export interface ControlCall extends Pick<Call, 'head' | 'body'> {
  readonly services: Pick<Services, 'control' | 'token'> & Partial<Knowing>;
}

type Knowing = Pick<Services, 'past' | 'scenario' | 'run' | 'cluster'>;

const problemOf = Object.fromEntries(
  Object.entries(controlCommands).map(([name, schema]) => [
    name,
    validator(`control_${name}`, schema),
  ]),
) as Record<ControlName, ReturnType<typeof validator>>;

export const readControl = ({ services }: ControlCall): Answer =>
  success(200, controlShown(services));

/** Any client may read. A reader with the token keeps the command at its end. */
export function readRuns({ services: { control, token }, head }: ControlCall): Answer {
  if (!control.runs) return { refusal: cannot('run', control.can) };
  return success(200, control.runs(findTokenProblem(head, token) === null));
}

/** Any client may read. Only a reader with the token sees the addresses of the runs. */
export function readGallery({ services: { control, token }, head }: ControlCall): Answer {
  if (!control.gallery) return { refusal: cannot('watch', control.can) };
  return success(200, control.gallery(findTokenProblem(head, token) === null));
}

export async function writeControl({ services, head, body }: ControlCall): Promise<Answer> {
  const { control, token } = services;
  const refusal = findTokenProblem(head, token);
  if (refusal) return { refusal, headers: { 'WWW-Authenticate': 'Bearer realm="folkmoot"' } };
  const command = commandIn(body);
  if ('refusal' in command) return command;
  const { can } = control;
  const refused = can.includes(command.do) ? await control.do(command) : cannot(command.do, can);
  return refused ? { refusal: refused } : success(200, controlShown(services));
}

function findTokenProblem(head: Call['head'], token: string): Refusal | null {
  const sent = /^Bearer +(\S+) *$/i.exec(head.headers.get('authorization') ?? '')?.[1];
  if (sent === undefined) return noToken;
  return same(sent, token) ? null : wrongToken;
}

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');
const TOKEN_BYTES = 24;

const controlShown = (services: ControlCall['services']): ControlView => ({
  ...describeWorld(services.control),
  knows: knownTo(services),
});

function knownTo({ past, scenario, run, cluster }: Partial<Knowing>): KnownPart[] {
  const known: Readonly<Record<KnownPart, boolean>> = {
    history: Boolean(past),
    scenario: Boolean(scenario),
    neighbours: Boolean(run),
    decisions: Boolean(run) && typeof run?.decisions !== 'string',
    cluster: Boolean(cluster),
  };
  return (Object.keys(known) as KnownPart[]).filter((part) => known[part]);
}

/** Compares in constant time. */
const same = (sent: string, token: string) => timingSafeEqual(digest(sent), digest(token));
const digest = (text: string) => createHash('sha256').update(text).digest();

const noToken = refuse('CONTROL_TOKEN_MISSING');
const wrongToken = refuse('CONTROL_TOKEN_INVALID');

function cannot(wanted: ControlName, can: readonly ControlName[]): Refusal {
  const more = { pointer: '/do' };
  return can.length > 0
    ? refuse('CONTROL_UNSUPPORTED', { control: wanted, available: can.join(', ') }, more)
    : refuse('CONTROL_UNAVAILABLE', { control: wanted }, more);
}

/** Parses a command. Validates only against the schema that `do` names. */
function commandIn(body: Call['body']): ControlCommand | { refusal: Refusal } {
  const parsed = parseJson(body === 'unread' ? new Uint8Array() : body);
  if ('message' in parsed) {
    return { refusal: refuseJson(parsed) };
  }
  const name = (parsed.value as { do?: unknown } | null)?.do;
  if (typeof name !== 'string' || !Object.hasOwn(controlCommands, name)) {
    const known = Object.keys(controlCommands).join(', ');
    const values = { control: excerpt(name), known };
    return { refusal: refuse('CONTROL_UNKNOWN', values, { pointer: '/do' }) };
  }
  const problem = problemOf[name as ControlName](parsed.value);
  if (problem) return { refusal: refuseMember(problem) };
  const command = parsed.value as ControlCommand;
  if (command.do !== 'until' || (command.until.what === 'time') === 'ms' in command.until) {
    return command;
  }
  const { what } = command.until;
  return { refusal: refuse('CONTROL_MS_UNEXPECTED', { what }, { pointer: '/until/ms' }) };
}
