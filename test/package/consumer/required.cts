/** Loads the package from CommonJS. */
import moot = require('folkmoot');
import client = require('folkmoot/client');
import sim = require('folkmoot/sim');
import api = require('folkmoot/api');

const keys: client.AgentKeys = client.generateKeys();
const found = [
  typeof moot.Network.open,
  keys.publicKey.length,
  typeof sim.simulate,
  typeof api.startServer,
];
process.stdout.write(`${JSON.stringify(found)}\n`);
