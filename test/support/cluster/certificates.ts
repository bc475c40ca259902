import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../fixture.js';

/** Creates a CA and a certificate for servers and clients at 127.0.0.1, with openssl. */
export function certificates(name: string): { ca: string; cert: string; key: string } {
  const folder = temporaryFolder();
  const file = (end: string) => join(folder, `${name}.${end}`);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const authority = ['-keyout', file('ca.key'), '-out', file('ca.pem'), '-days', '2'];
  openssl('req', '-x509', ...curve, ...authority, '-subj', `/CN=${name}`);
  openssl('req', ...curve, '-keyout', file('key'), '-out', file('csr'), '-subj', '/CN=member');
  const extensions = 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n';
  writeFileSync(file('ext'), extensions);
  const by = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
  const made = ['-in', file('csr'), '-out', file('pem'), '-extfile', file('ext')];
  openssl('x509', '-req', ...made, ...by);
  return { ca: file('ca.pem'), cert: file('pem'), key: file('key') };
}
