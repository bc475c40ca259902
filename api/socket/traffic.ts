/** What came and left over one WebSocket connection. */
import type { Socket } from '../transport/transport.js';

export interface Traffic {
  messagesIn: number;
  messagesOut: number;
  bytesOut: number;
}

/** The socket, counting what leaves; `onFull` where it had no room for a message. */
export function counted(socket: Socket, traffic: Traffic, onFull: () => void): Socket {
  return {
    ...socket,
    send: (text) => {
      traffic.messagesOut += 1;
      traffic.bytesOut += text.length;
      const taken = socket.send(text);
      if (!taken) onFull();
      return taken;
    },
  };
}
