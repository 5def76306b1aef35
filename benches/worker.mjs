// One engine of one measure in a process of its own: prints its times as one line of JSON.
const [measure, engine, options] = process.argv.slice(2);
const { run } = await import(`./measures/${measure}.mjs`);
const times = await run(engine, JSON.parse(options));
// Servers and timers of the measured packages must not keep the process.
process.stdout.write(`${JSON.stringify(times)}\n`, () => process.exit(0));
