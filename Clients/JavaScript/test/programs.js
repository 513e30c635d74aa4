import {spawn} from "node:child_process";
import {createServer, connect} from "node:net";
import {fileURLToPath} from "node:url";
import {Service, until} from "./service.js";

const project = name => fileURLToPath(new URL(`../examples/project/${name}`, import.meta.url));

/** Larder with the project of the examples, as their README starts it. */
export const startService = () => Service.start({LARDER_LOCAL: project("local.graphql")}, project("larder.yaml"));

/** An example that runs. */
export class Program {
  output = "";
  errors = "";
  #child;
  #ended;

  constructor(name, ...words) {
    this.#child = spawn(process.execPath, [fileURLToPath(new URL(`../examples/${name}.mjs`, import.meta.url)), ...words]);
    this.#child.stdout.on("data", data => this.output += data);
    this.#child.stderr.on("data", data => this.errors += data);
    this.#ended = new Promise(resolve => this.#child.on("close", resolve));
  }

  /** Runs an example to its end, which must be a good one, and returns the lines that it printed. */
  static async lines(name, ...words) {
    const program = new Program(name, ...words), code = await program.end();
    if (code !== 0) throw new Error(`${name} ${words.join(" ")} ended with ${code}: ${program.output}${program.errors}`);
    return program.lines;
  }

  get lines() {
    return this.output.split("\n").slice(0, -1);
  }

  /** Waits for what it prints. */
  async prints(text) {
    await until(() => this.output.includes(text), 60_000).catch(() => {
      throw new Error(`It does not print ${text}: ${this.output}${this.errors}`);
    });
  }

  /** Its exit code, null after a kill. */
  end(signal) {
    if (signal) this.#child.kill(signal);
    return this.#ended;
  }
}

/** What stands between a program and Larder; while `isLosing` it passes requests on, and drops the responses. */
export class Proxy {
  isLosing = false;
  lost = 0;
  #server;
  #sockets = new Set();

  /** @param {string} target the address of Larder */
  static async start(target) {
    const proxy = new Proxy(), {hostname, port} = new URL(target);
    proxy.#server = createServer(client => {
      const server = connect(Number(port), hostname);
      for (const socket of [client, server]) {
        proxy.#sockets.add(socket);
        socket.on("error", () => {}).on("close", () => {
          proxy.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.pipe(server);
      server.on("data", data => {
        if (!proxy.isLosing) return client.write(data);
        proxy.lost++;
        client.destroy();
      });
    });
    await new Promise(resolve => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.url = `http://127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  async stop() {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
