/**
 * The first script of a run in one file: once all of it is read, it unpacks the page's look and
 * script, which the file's policy knows by their hashes, as it does this one.
 */
import { createTrustedRules } from '../home.js';
import { showFailure, unpack } from './unpack.js';

// Whatever else it were given, the file's policy would not let it run.
const policy = createTrustedRules('folkmoot-begin', { createScript: (text: string) => text });

async function begin(): Promise<void> {
  const [look, code] = await Promise.all([unpack('look'), unpack('code')]);
  const style = document.createElement('style');
  style.textContent = new TextDecoder().decode(look);
  const script = document.createElement('script');
  script.text = policy.createScript(new TextDecoder().decode(code));
  document.head.append(style, script);
}

document.addEventListener('DOMContentLoaded', () => void begin().catch(showFailure));
