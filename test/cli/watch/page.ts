/** A watched command's page: address, token and clock control. */
import type { ControlCommand, ControlView } from 'folkmoot/api';
import type { Begun } from '../../support/running-command.js';

export interface Page {
  url: string;
  token: string;
  control(): Promise<ControlView>;
  /** Sends a control command with the token and returns the status. */
  ask(command: ControlCommand): Promise<number>;
  read<T>(path: string): Promise<T>;
}

/** Waits for the printed address. */
export async function pageOf({ printed }: Begun): Promise<Page> {
  const [, url, token] = await printed(/folkmoot: (http:\S+)\/ui\/#token=(\S+) shows /);
  const read = async <T>(path: string) => {
    const { data } = (await (await fetch(`${url}${path}`)).json()) as { data: T };
    return data;
  };
  return {
    ...{ url: url!, token: token!, read },
    control: () => read<ControlView>('/api/v1/control'),
    async ask(command) {
      const headers = { Authorization: `Bearer ${token}` };
      const body = JSON.stringify(command);
      return (await fetch(`${url}/api/v1/control`, { method: 'POST', headers, body })).status;
    },
  };
}
