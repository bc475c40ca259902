/** Imported into a server. Reports the server's memory after garbage collection. */
process.on('message', async () => {
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.send(process.memoryUsage());
});
