/** Keeping a lease alive: one question on a stream of its own, so that it can go to any member. */
import type { ServiceError } from './bundled/grpc.js';
import { EtcdError, errorOf } from './error.js';
import type { Member } from './member.js';

/**
 * @returns the seconds that the lease has from now on; 0 when it has ended.
 * @throws {EtcdError}
 */
export async function keepAt(
  member: Member,
  id: string,
  limits: { connectMs: number; callMs: number },
): Promise<number> {
  const stream = await member.stream('Lease/LeaseKeepAlive', limits);
  stream.end({ ID: id });
  try {
    for await (const { TTL } of stream) return Number(TTL);
  } catch (error) {
    throw errorOf(error as ServiceError, member.endpoint);
  } finally {
    stream.cancel();
  }
  const ended = `etcd at ${member.endpoint} ended a call`;
  throw new EtcdError('unavailable', ended, { outcome: 'unknown' });
}
