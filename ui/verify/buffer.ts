/** Node's Buffer, by which the engine reads and writes bytes: imported before anything of it. */
import { Buffer } from 'buffer';

(globalThis as { Buffer?: unknown }).Buffer ??= Buffer;
