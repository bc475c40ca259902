/**
 * Encoders of events, records and answers. The build generates them from the schemas
 * (tools/encoders.mjs). Any value has the same text as from `canonical`, and an answer the same
 * text as from `JSON.stringify`.
 */
import type { CommandKind } from '../../protocol/schema/command.js';
import type { Event, EventType } from '../../protocol/schema/event.js';
import type { RecordOf, Table } from '../../protocol/schema/record.js';
import type { Answer } from '../../protocol/schema/view.js';

export declare const eventEncoders: Readonly<Record<EventType, (event: Event) => string>>;
export declare const recordEncoders: Readonly<Record<Table, (value: RecordOf[Table]) => string>>;
export declare const answerEncoders: Readonly<Record<CommandKind, (answer: Answer) => string>>;
