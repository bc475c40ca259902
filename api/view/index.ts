/** What server, tests and page share: shapes, bytes and the fold. Safe in a browser. */
export { cutSpan, firstRow, isEvent } from './cut.js';
export { applySpan, emptyPicture, newAgent, type PictureOf } from './fold.js';
export {
  type AgentPicture,
  type AgentRow,
  type AllianceRow,
  allianceStatuses,
  type BlockPicture,
  type BlockRow,
  blockStatuses,
  type Introduced,
  type MemeRow,
  type Picture,
  type RowKind,
  type Rows,
  rowKinds,
  type Said,
  type SaidKind,
  type Span,
  saidKinds,
  sentiments,
  statuses,
  type Totals,
  viewLimits,
} from './model.js';
export { decodeSpan, encodeSpan, newRows, SpanDamaged } from './span.js';
