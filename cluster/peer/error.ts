/**
 * Why a node does not get, or give, a snapshot.
 *
 * - `UNREACHABLE`: nobody answers there, or not in time
 * - `REFUSED`: the peer gives none, and says why
 * - `UNPROVEN`: whoever answers does not know the secret of the nodes
 * - `CUT`: it ended before it was whole
 * - `UNSOUND`: what came is no snapshot, or does not follow from its own log
 * - `OTHER_NETWORK`: it is of another network, or of another order
 * - `PARTED`: it does not continue this node's own log, or is not what other nodes told of
 * - `NOT_AHEAD`: it goes no further than what this node has
 * - `NO_ROOM`: the disk has too little free space for it
 */
export type PeerErrorCode =
  | 'UNREACHABLE'
  | 'REFUSED'
  | 'UNPROVEN'
  | 'CUT'
  | 'UNSOUND'
  | 'OTHER_NETWORK'
  | 'PARTED'
  | 'NOT_AHEAD'
  | 'NO_ROOM';

/** Another peer may do better, or the same one later. */
export class PeerError extends Error {
  override name = 'PeerError';

  constructor(
    readonly code: PeerErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
