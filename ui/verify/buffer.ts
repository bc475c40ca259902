/** Defines Node's Buffer, which the engine uses. Must be imported before the engine. */
import { Buffer } from 'buffer';

(globalThis as { Buffer?: unknown }).Buffer ??= Buffer;
