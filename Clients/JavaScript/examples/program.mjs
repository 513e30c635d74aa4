// What the examples share: their arguments, their errors, and the exchange with Larder.

import {Larder, LarderError, OfflineError, UnavailableError} from "larder";
import {fileStore} from "larder/node";

/** Opens the store in a folder, runs a program on it, and closes it. */
export async function run(usage, options, main) {
  const [url, folder, ...words] = process.argv.slice(2);
  if (!url || !folder) {
    console.error(`usage: node examples/${usage}`);
    process.exit(64);
  }
  let larder;
  try {
    larder = await Larder.open({url, store: fileStore(folder), ...options});
    await main(larder, words);
  } catch (error) {
    if (!(error instanceof LarderError)) throw error;
    console.error(`${error.code}: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await larder?.close();
  }
}

/** Sends what waits and fetches what is new. Without a network the device's data stay as they are: false. */
export async function refresh(larder, query) {
  try {
    const {error} = await larder.send();
    if (error) throw error;
    if (query) await larder.read(query);
    await larder.sync();
    return true;
  } catch (error) {
    if (!(error instanceof OfflineError || error instanceof UnavailableError)) throw error;
    console.log(`(${error.code}: these are the device's data)`);
    return false;
  }
}

/** Lets the library send and sync by itself until each item of the outbox has its outcome, a minute at most. */
export function settle(larder) {
  const signal = AbortSignal.timeout(60_000);
  return new Promise(resolve => {
    const check = () => {
      if (larder.outbox().length > 0 && !signal.aborted) return;
      unlisten();
      larder.stop();
      resolve();
    };
    const unlisten = larder.onChange(check);
    signal.addEventListener("abort", check, {once: true});
    larder.start();
    check();
  });
}
