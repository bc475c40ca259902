/** Runs a case of vectors through the auditor, which predicts each outcome and event. */
import type { Command, Event, Genesis, Outcome, Reason, SignedRequest } from 'folkmoot';
import { Auditor, type ExpectedLine, type InputLine, type InputRequest } from 'folkmoot/sim';
import { admit } from 'folkmoot/testing';
import { reasons } from '../../../dist/engine/protocol/schema/reason.js';

function bytesOf(request: InputRequest): Pick<SignedRequest, 'body' | 'file'> {
  const { body, body_hex, body_filled, file_base64, file_filled } = request;
  const whole = (of?: { byte: number; bytes: number }) => of && Buffer.alloc(of.bytes, of.byte);
  const text = body === undefined ? Buffer.from(body_hex ?? '', 'hex') : Buffer.from(body);
  const file = whole(file_filled) ?? (file_base64 && Buffer.from(file_base64, 'base64'));
  return { body: whole(body_filled) ?? text, ...(file ? { file } : {}) };
}

/** Command of a request that reached the engine; null if the request was refused before. */
async function commandOf(
  { request }: InputLine,
  { outcome }: ExpectedLine,
  networkId: string,
): Promise<Command | null> {
  const { reason, pointer = '' } = outcome!;
  const admission = await admit({ ...request, ...bytesOf(request!) } as SignedRequest, networkId);
  if ('refusal' in admission) return null;
  const { command } = admission;
  if (reason !== 'MISMATCH') return command;
  const inner = /^\/transactions\/(\d+)\/signature$/.exec(pointer);
  if (!inner || command.kind !== 'propose') return null;
  return { ...command, failed_transaction: Number(inner[1]) };
}

function asSaid({ result, data, reason, details }: NonNullable<ExpectedLine['outcome']>): Outcome {
  if (data !== undefined) return { result, data } as Outcome;
  const more = details === undefined ? {} : { details: details as Record<string, unknown> };
  const { code, status } = reasons[reason as Reason];
  return { result, refusal: { code, status, reason, message: '', ...more } } as Outcome;
}

export async function audited(input: readonly InputLine[], expected: readonly ExpectedLine[]) {
  const genesis = input[0]!.genesis as Genesis;
  const auditor = new Auditor(genesis);
  for (const [index, line] of input.entries()) {
    if (index === 0) continue;
    const wanted = expected[index]!;
    const events = wanted.entries.flatMap((entry) => entry.events as Event[]);
    const { at } = line;
    if (!line.request) auditor.advance(at, events);
    else {
      const command = await commandOf(line, wanted, genesis.network_id);
      const outcome = asSaid(wanted.outcome!);
      if (command) auditor.observe({ at, command, outcome, events });
      else auditor.advance(at, events);
    }
    if (auditor.violation) return { line: line.line, ...auditor.violation };
  }
  return null;
}
