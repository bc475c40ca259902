/** Traffic counters for a WebSocket connection. */
import type { Socket } from '../transport/transport.js';

export interface Traffic {
  messagesIn: number;
  messagesOut: number;
  bytesOut: number;
}

/** Wraps a socket to count its traffic. Calls `onFull` when a message was dropped. */
export function countTraffic(socket: Socket, traffic: Traffic, onFull: () => void): Socket {
  const note = (length: number, taken: boolean) => {
    traffic.messagesOut += 1;
    traffic.bytesOut += length;
    if (!taken) onFull();
    return taken;
  };
  return {
    ...socket,
    send: (text) => note(text.length, socket.send(text)),
    sendBytes: (bytes) => note(bytes.length, socket.sendBytes(bytes)),
  };
}
