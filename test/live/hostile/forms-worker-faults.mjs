/** Imported into a server. Makes the form library fail in the way that the caption names. */
import { Busboy } from '@fastify/busboy';

const write = Busboy.prototype._write;
Busboy.prototype._write = function (chunk, encoding, done) {
  const text = chunk.toString('latin1');
  if (text.includes('THROW LATER')) {
    setTimeout(() => {
      throw new Error('thrown by the library, later');
    });
    setImmediate(() => {
      throw new Error('thrown by the library');
    });
  } else if (text.includes('REJECT')) void Promise.reject(new Error('rejected by the library'));
  else if (text.includes('FOR EVER')) for (;;);
  else if (!text.includes('SILENT')) write.call(this, chunk, encoding, done);
};
