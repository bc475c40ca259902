import './dist/cli/heap.js';
const { simulate, loadScenario } = await import('./dist/sim/index.js');
const {scenario}=loadScenario('byzantine'); const n=+process.argv[2];
const t=performance.now(); let v=0;
for(let i=0;i<n;i++){const r=await simulate(scenario,{store:'memory',seed:String(i)}); v+=r.measures.votes;}
console.log('ms/run',(performance.now()-t)/n,'votes/s',v*1000/(performance.now()-t));
