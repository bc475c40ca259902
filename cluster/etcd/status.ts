/** What the members of an etcd say of themselves. */
import { EtcdError } from './error.js';
import type { Member } from './member.js';

/** What one member says of itself; of one that does not answer, why. */
export type MemberStatus = { endpoint: string } & (
  | { problem: string }
  | {
      problem: null;
      version: string;
      clusterId: string;
      memberId: string;
      /** The `memberId` of the leader that it knows; `0` without one. */
      leader: string;
      revision: number;
      raftTerm: number;
      databaseBytes: number;
    }
);

/** Throws for a bug only. */
export async function statusOf(
  member: Member,
  limits: { connectMs: number; callMs: number },
): Promise<MemberStatus> {
  const { endpoint } = member;
  try {
    const found = await member.call('Maintenance/Status', {}, limits);
    const { header, version, leader, dbSize, raftTerm } = found;
    return {
      endpoint,
      problem: null,
      version,
      clusterId: header.cluster_id,
      memberId: header.member_id,
      leader,
      revision: Number(header.revision),
      raftTerm: Number(raftTerm),
      databaseBytes: Number(dbSize),
    };
  } catch (error) {
    if (error instanceof EtcdError) return { endpoint, problem: error.message };
    throw error;
  }
}
