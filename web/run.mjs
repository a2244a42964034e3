/** Runs tests by their names; words on the command line choose some. `check` gets what each returns. True if none failed. */
export async function run(tests, check = () => {}) {
  const chosen = process.argv.slice(2);
  let passed = true;
  for (const [name, test] of Object.entries(tests)) {
    if (chosen.length && !chosen.some((words) => name.includes(words))) continue;
    const begun = Date.now();
    try {
      await check(await test(), name);
      console.log(`ok ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    } catch (error) {
      passed = false;
      console.error(`FAILED ${name}: ${error.stack}`);
    }
  }
  return passed;
}
