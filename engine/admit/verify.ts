/** Verifies admitted requests. The key must be known, and all signatures must be valid. */
import { type Verifier, VerifierBusy, type VerifyJob } from '../crypto/verifier.js';
import { limits } from '../protocol/limits.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { sha256Hex } from '../protocol/signing.js';
import { type Admitted, checked } from './admit.js';
import { type Knows, refuseUnknownKey } from './credentials.js';

/** A request that can be applied. Only verification creates such a request. */
export interface Verified extends Admitted {
  /** @internal */
  [checked]: true | 'later';
}

function mark(admitted: Admitted): Verified {
  admitted[checked] = true;
  return admitted as Verified;
}

/** Returns true if verification created the value. An untyped caller can pass any value. */
export const isVerified = (value: Verified): boolean =>
  typeof value === 'object' && (value?.[checked] === true || value?.[checked] === 'later');

/** Jobs for the request's own signature, then for those inside its body. */
const allJobs = (admitted: Admitted): VerifyJob[] => [admitted.ownJob(), ...admitted.innerJobs()];

async function verifyAll(
  admitted: Admitted,
  verifier: Verifier,
  knows: Knows,
): Promise<Verified | { refusal: Refusal }> {
  const refusal = refuseUnknownKey(admitted.command, knows);
  if (refusal) return { refusal };
  const verdicts = await verdictsOf(allJobs(admitted), verifier);
  if ('refusal' in verdicts) return verdicts;
  const [own, ...inner] = verdicts.valid;
  return own ? withInner(admitted, failedIn(inner)) : { refusal: mismatch(admitted) };
}

/** Verifies the signatures inside a body. Synchronous if the body contains no signatures. */
function verifyInner(
  admitted: Admitted,
  verifier: Verifier,
): Verified | Promise<Verified | { refusal: Refusal }> {
  const jobs = admitted.innerJobs();
  if (jobs.length === 0) return withInner(admitted);
  return verdictsOf(jobs, verifier).then((verdicts) =>
    'refusal' in verdicts ? verdicts : withInner(admitted, failedIn(verdicts.valid)),
  );
}

/**
 * Marks a request as verified. Passes on the index of an invalid transaction signature, since the
 * engine reports that signature only after all other problems with the block.
 */
function withInner(admitted: Admitted, failed?: number): Verified {
  const { command } = admitted;
  if (command.kind !== 'propose' || failed === undefined) return mark(admitted);
  return mark({ ...admitted, command: { ...command, failed_transaction: failed } });
}

function failedIn(valid: readonly boolean[]): number | undefined {
  const failed = valid.indexOf(false);
  return failed < 0 ? undefined : failed;
}

function verdictsOf(
  jobs: readonly VerifyJob[],
  verifier: Verifier,
): Promise<{ valid: boolean[] } | { refusal: Refusal }> {
  return verifier.verify(jobs).then(
    (valid) => ({ valid }),
    (error) => ({ refusal: busy(error) }),
  );
}

/** Verifies all signatures in requests, in parts that a queue can take. */
async function verifyDeferred(requests: readonly Admitted[], verifier: Verifier): Promise<void> {
  const jobs = requests.flatMap(allJobs);
  const parts: Promise<boolean[]>[] = [];
  for (let start = 0; start < jobs.length; start += limits.verifyBulk) {
    parts.push(verifier.verify(jobs.slice(start, start + limits.verifyBulk)));
    if (parts.length === MOST_PARTS) await expectValid(parts.splice(0));
  }
  await expectValid(parts);
}

/** Parts that are verified at the same time. They fill the queue to a quarter. */
const MOST_PARTS = limits.verifyQueue / limits.verifyBulk / 4;

async function expectValid(parts: readonly Promise<boolean[]>[]): Promise<void> {
  for (const valid of await Promise.all(parts)) {
    if (valid.includes(false)) {
      throw new Error('a request that was applied before its verification has a wrong signature');
    }
  }
}

/** Converts VerifierBusy to a refusal, and rethrows anything else. */
function busy(error: unknown): Refusal {
  if (!(error instanceof VerifierBusy)) throw error;
  return refuse('VERIFIER_BUSY');
}

const shortHex = (hex: string) => `${hex.slice(0, 16)}..`;

function mismatch({ request, command, signature, inputSha256 }: Admitted): Refusal {
  const input_sha256 = inputSha256();
  const details = {
    kind: request.kind,
    expected_input_sha256: input_sha256,
    body_sha256: sha256Hex(request.body),
    request_target: request.target,
  };
  const values = { public_key: command.public_key, signature: shortHex(signature), input_sha256 };
  return refuse('SIGNATURE_MISMATCH', values, { details });
}

/**
 * Verifies the signatures of requests to a network, in one call or in two steps. The first step
 * verifies the request's own signature; the second, after a check of the command, those inside its
 * body.
 */
export class Verification {
  readonly #verifier: Verifier;
  readonly #hasKey: (publicKey: string) => boolean;
  /** Applied requests that must be verified before their commit. */
  #deferred: Admitted[] = [];

  /** @internal */
  constructor(verifier: Verifier, knows: (publicKey: string) => boolean) {
    this.#verifier = verifier;
    this.#hasKey = knows;
  }

  /** False in a simulation without verification. */
  get enabled(): boolean {
    return this.#verifier.name !== 'off';
  }

  /** Verifies all signatures in a request. */
  all(admitted: Admitted): Promise<Verified | { refusal: Refusal }> {
    return verifyAll(admitted, this.#verifier, this.#hasKey);
  }

  /**
   * Verifies only the request's own signature. Returns null if the signature is valid. The caller
   * must know that the key is registered, and must call `inner` for the signatures inside the body.
   */
  own(admitted: Admitted): Promise<Refusal | null> {
    return this.#verifier
      .verify([admitted.ownJob()])
      .then((verdicts) => (verdicts[0] ? null : mismatch(admitted)), busy);
  }

  /**
   * Accepts a request that a different cluster node has verified. All of its signatures are valid
   * except that of the transaction `failed`.
   */
  elsewhere(admitted: Admitted, failed?: number): Verified {
    return withInner(admitted, failed);
  }

  /** Verifies the signatures inside a body. Synchronous if the body contains no signatures. */
  inner(admitted: Admitted): Verified | Promise<Verified | { refusal: Refusal }> {
    return verifyInner(admitted, this.#verifier);
  }

  /**
   * Accepts a request that this process has signed itself. Its signatures are verified after it is
   * applied and before it is committed, in larger batches and without a wait. An invalid signature
   * then stops the network, so requests from other parties must be verified first. A network
   * without verification verifies nothing.
   *
   * @internal
   */
  defer(admitted: Admitted): Verified | { refusal: Refusal } {
    const refusal = refuseUnknownKey(admitted.command, this.#hasKey);
    if (refusal) return { refusal };
    admitted[checked] = this.enabled ? 'later' : true;
    return admitted as Verified;
  }

  /** Records that a request was applied and logged. @internal */
  recordApplied(verified: Verified): void {
    if (verified[checked] === 'later') this.#deferred.push(verified);
  }

  /**
   * Verifies the deferred requests that were applied so far. Returns null if there are none.
   *
   * @internal
   * @throws {Error} for an invalid signature.
   */
  settle(): Promise<void> | null {
    if (this.#deferred.length === 0) return null;
    const requests = this.#deferred;
    this.#deferred = [];
    return verifyDeferred(requests, this.#verifier);
  }

  /** Verifies a signature over any text that is not a command. */
  async text(job: VerifyJob): Promise<boolean> {
    const [valid] = await this.#verifier.verify([job]);
    return valid === true;
  }
}
