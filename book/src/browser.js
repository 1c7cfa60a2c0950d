// Runs the generated kernels on the reader's GPU, or Lanecrypt's Rust on the CPU: the page "In your browser".
//
// `browser-data.js`, which the build of the book writes, has the test vectors and a module of WebAssembly with everything
// that knows a cipher. Pages that are opened as files may fetch none, so it is a script.
"use strict";

/** The binding of `array<vec4<u32>, 4096>`, the masks of a key. */
const KEY_BYTES = 16384;
/** Blocks of a workgroup. */
const GROUP_BLOCKS = 2048;
/** Random blocks that are compared: for threads of several workgroups, and with an end within one. */
const RANDOM_BLOCKS = 4 * GROUP_BLOCKS + 77;
/** What offsets of bindings are multiples of, on every device. */
const ALIGNMENT = 256;
/** What kernels exchange bits between rows with: ones in the first of every two runs of 1, 2, 4 and 8 bits. */
const EXCHANGE_MASKS = [0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff];
const aligned = (bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
const fromHex = (hex) => Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16));
const isEqual = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
const seconds = () => performance.now() / 1000;
/** Seconds that a measurement takes at least; tests of the page want less. */
const leastSeconds = () => Number(document.getElementById("browser").dataset.seconds);

/** `length` bytes that the system calls random. */
function random(length) {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
}

/** The bytes of a gzip file in base64. */
async function unpacked(base64) {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The module. Its calls read and write one buffer (`book/browser/src/ffi.rs`). */
class Rust {
  static async load(base64) {
    const { instance } = await WebAssembly.instantiate(await unpacked(base64));
    return new Rust(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
    Object.assign(this, JSON.parse(this.text(exports.ciphers())));
  }

  /** The buffer, of this length. */
  buffer(length) {
    const at = this.exports.buffer(length);
    return new Uint8Array(this.exports.memory.buffer, at, length);
  }

  text(length) {
    return new TextDecoder().decode(this.buffer(length));
  }

  kernels(cipher) {
    return this.text(this.exports.kernels(cipher));
  }

  /** What the kernels take of a key, and the name of the one that runs. */
  keys(cipher, decrypts, key) {
    this.buffer(key.length).set(key);
    const answer = this.buffer(this.exports.keys(cipher, decrypts)).slice();
    const kernel = new TextDecoder().decode(answer.subarray(KEY_BYTES));
    return { masks: answer.subarray(0, KEY_BYTES), kernel };
  }

  /** Blocks, encrypted or decrypted on the CPU: by the fastest code, or as the standard reads. */
  run({ cipher, decrypts }, key, blocks, isReference = false) {
    const buffer = this.buffer(key.length + blocks.length);
    buffer.set(key);
    buffer.set(blocks, key.length);
    return this.buffer(this.exports.run(cipher, decrypts, isReference, key.length)).slice(key.length);
  }
}

/** The GPU. Each of its ways to fail ends in an exception with a sentence. */
class Gpu {
  static async open() {
    if (!navigator.gpu) throw new Error("This browser has no WebGPU.");
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) throw new Error("This browser has WebGPU, and no GPU that it can use.");
    const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
    const requiredLimits = { maxStorageBufferBindingSize, maxBufferSize };
    const device = await adapter.requestDevice({ requiredLimits });
    const { vendor, architecture, description } = adapter.info;
    return new Gpu(device, description || `${vendor} ${architecture}`.trim() || "a GPU without a name");
  }

  constructor(device, name) {
    Object.assign(this, { device, name, modules: new Map(), pipelines: new Map() });
  }

  /** Does work that is refused by an exception, not by a line in the console. */
  async guarded(work) {
    this.device.pushErrorScope("validation");
    this.device.pushErrorScope("out-of-memory");
    const made = await work();
    const errors = [await this.device.popErrorScope(), await this.device.popErrorScope()];
    for (const error of errors) if (error) throw new Error(`The GPU's driver refuses: ${error.message}`);
    return made;
  }

  /** A kernel of a source, compiled when it is first wanted. */
  async pipeline(name, source, entryPoint) {
    const id = `${name} ${entryPoint}`;
    if (!this.pipelines.has(id)) {
      const pipeline = await this.guarded(() => {
        if (!this.modules.has(name)) this.modules.set(name, this.device.createShaderModule({ code: source() }));
        const compute = { module: this.modules.get(name), entryPoint };
        return this.device.createComputePipelineAsync({ layout: "auto", compute });
      });
      this.pipelines.set(id, pipeline);
    }
    return this.pipelines.get(id);
  }

  memory(size, usage) {
    return this.device.createBuffer({ size, usage: usage | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  }

  /** The bindings of a kernel over `bytes` bytes of `data` from `at` on, the job of this number. */
  bind({ pipeline, block }, { data, keys, parameters }, job, at, bytes) {
    const numbers = new Uint32Array([0, 0, 0, 0, ...EXCHANGE_MASKS, bytes / block, 0, 0, 0]);
    this.device.queue.writeBuffer(parameters, ALIGNMENT * job, numbers);
    const resources = [
      { buffer: data, offset: at, size: bytes },
      { buffer: keys, offset: KEY_BYTES * job, size: KEY_BYTES },
      { buffer: parameters, offset: ALIGNMENT * job, size: numbers.byteLength },
    ];
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    return this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  }

  /** Memory for jobs over so many bytes in all. */
  place(jobs, bytes) {
    return {
      data: this.memory(bytes, GPUBufferUsage.STORAGE),
      keys: this.memory(KEY_BYTES * jobs, GPUBufferUsage.UNIFORM),
      parameters: this.memory(ALIGNMENT * jobs, GPUBufferUsage.UNIFORM),
    };
  }

  /** What a kernel makes of jobs, masks and blocks each. */
  async run(kernel, jobs) {
    const ends = [];
    let bytes = 0;
    for (const { blocks } of jobs) ends.push((bytes += aligned(blocks.length)));
    const back = this.device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const place = this.place(jobs.length, bytes);
    await this.guarded(() => {
      const commands = this.device.createCommandEncoder();
      const pass = commands.beginComputePass();
      pass.setPipeline(kernel.pipeline);
      jobs.forEach(({ masks, blocks }, job) => {
        const at = ends[job] - aligned(blocks.length);
        this.device.queue.writeBuffer(place.data, at, blocks);
        this.device.queue.writeBuffer(place.keys, KEY_BYTES * job, masks);
        pass.setBindGroup(0, this.bind(kernel, place, job, at, blocks.length));
        pass.dispatchWorkgroups(Math.ceil(blocks.length / kernel.block / GROUP_BLOCKS));
      });
      pass.end();
      commands.copyBufferToBuffer(place.data, 0, back, 0, bytes);
      this.device.queue.submit([commands.finish()]);
      return back.mapAsync(GPUMapMode.READ);
    });
    const all = new Uint8Array(back.getMappedRange()).slice();
    for (const buffer of [back, ...Object.values(place)]) buffer.destroy();
    return jobs.map(({ blocks }, job) => {
      const at = ends[job] - aligned(blocks.length);
      return all.subarray(at, at + blocks.length);
    });
  }

  /** Seconds of a launch, of as many as take long enough. */
  async time(pipeline, group, workgroups) {
    for (let launches = 1; ; launches *= 2) {
      const commands = this.device.createCommandEncoder();
      const pass = commands.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      for (let i = 0; i < launches; i++) pass.dispatchWorkgroups(workgroups);
      pass.end();
      const start = seconds();
      this.device.queue.submit([commands.finish()]);
      await this.device.queue.onSubmittedWorkDone();
      const elapsed = seconds() - start;
      if (elapsed > leastSeconds()) return elapsed / launches;
    }
  }

  /** Seconds of a launch of a kernel over so many bytes on the GPU. */
  async timeOver(kernel, masks, bytes) {
    const place = this.place(1, bytes);
    this.device.queue.writeBuffer(place.keys, 0, masks);
    const group = this.bind(kernel, place, 0, 0, bytes);
    const time = await this.time(kernel.pipeline, group, Math.ceil(bytes / kernel.block / GROUP_BLOCKS));
    for (const buffer of Object.values(place)) buffer.destroy();
    return time;
  }

  /** Bits a second of a kernel: over 64 MiB, or what a launch does in a tenth of a second. */
  async speed(kernel, masks) {
    const [least, most] = [1 << 20, Math.min(64 << 20, this.device.limits.maxStorageBufferBindingSize)];
    let [bytes, time] = [least, await this.timeOver(kernel, masks, least)];
    while (bytes < most && 2 * time * (bytes / least) < 0.1) bytes *= 2;
    if (bytes > least) time = await this.timeOver(kernel, masks, bytes);
    return (8 * bytes) / time;
  }

  /** Logic operations of two inputs on words of 32 bits that this GPU does in a second. */
  async logic() {
    this.logicRate ??= (async () => {
      const words = [0, 1, 2, 3, 4, 5, 6, 7];
      const x = (i) => `x${i % 8}`;
      const sweep = words.map((i) => `${x(i)} = (${x(i)} & ${x(i + 1)}) ^ ${x(i + 2)};`).join(" ");
      const [sweeps, loops, workgroups] = [16, 32, 4096];
      const source = `
        @group(0) @binding(0) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(64)
        fn logic(@builtin(global_invocation_id) thread: vec3<u32>) {
          ${words.map((i) => `var x${i} = thread.x * ${2 * i + 3}u;`).join(" ")}
          for (var i = 0u; i < ${loops}u; i += 1u) { ${sweep.repeat(sweeps)} }
          sums[thread.x] = ${words.map((i) => `x${i}`).join(" ^ ")};
        }`;
      const pipeline = await this.pipeline("logic", () => source, "logic");
      const sums = this.memory(4 * 64 * workgroups, GPUBufferUsage.STORAGE);
      const entries = [{ binding: 0, resource: { buffer: sums } }];
      const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
      const time = await this.time(pipeline, group, workgroups);
      sums.destroy();
      return (2 * words.length * sweeps * loops * 64 * workgroups) / time;
    })();
    return this.logicRate;
  }
}

/** The vectors of a cipher for keys of a length, by key: `[key, [[id, input, output], ...]]`. */
function vectorsByKey(vectors, { name, decrypts, keyBytes }) {
  const byKey = new Map();
  for (const [id, key, ...texts] of vectors[name] ?? []) {
    if (key.length !== 2 * keyBytes) continue;
    if (!byKey.has(key)) byKey.set(key, []);
    byKey.get(key).push([id, ...(decrypts ? texts.reverse() : texts).map(fromHex)]);
  }
  return [...byKey].map(([key, vectors]) => [fromHex(key), vectors]);
}

/** Blocks of several vectors, one behind the other. */
function joined(parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * Compares what `run`, which takes pairs of a key and blocks, makes of the vectors with what they say, and of random blocks
 * with what the reference makes. Gives how many vectors there are, the names of the wrong ones, and whether the blocks agree.
 */
async function verified(rust, choice, byKey, run) {
  let count = 0;
  const wrong = [];
  for (let first = 0; first < byKey.length; first += 256) {
    const some = byKey.slice(first, first + 256);
    const outputs = await run(some.map(([key, vectors]) => [key, joined(vectors.map(([, input]) => input))]));
    some.forEach(([, vectors], i) => {
      let at = 0;
      for (const [id, , expected] of vectors) {
        const output = outputs[i].subarray(at, (at += expected.length));
        if (!isEqual(output, expected)) wrong.push(id);
        count += 1;
      }
    });
  }
  const [key, blocks] = [random(choice.keyBytes), random(choice.block * RANDOM_BLOCKS)];
  const [output] = await run([[key, blocks]]);
  return { count, wrong, agrees: isEqual(output, rust.run(choice, key, blocks, true)) };
}

const isRight = ({ wrong, agrees }) => wrong.length === 0 && agrees;

/** Verifies and measures on the GPU. */
async function onGpu(gpu, rust, choice, byKey, say) {
  const { cipher, name, block, decrypts, keyBytes, operations } = choice;
  say("compiling the kernel");
  const { masks, kernel: entry } = rust.keys(cipher, decrypts, random(keyBytes));
  const kernel = { pipeline: await gpu.pipeline(name, () => rust.kernels(cipher), entry), block };
  say("verifying");
  const job = ([key, blocks]) => ({ masks: rust.keys(cipher, decrypts, key).masks, blocks });
  const result = await verified(rust, choice, byKey, (pairs) => gpu.run(kernel, pairs.map(job)));
  if (!isRight(result)) return result;
  say("measuring");
  const speed = await gpu.speed(kernel, masks);
  const roof = ((await gpu.logic()) / operations) * 32 * 8 * block;
  return { ...result, speed, roof };
}

/** Verifies and measures on the CPU, in pieces that leave the page alive. */
async function onCpu(rust, choice, byKey, say) {
  const pause = () => new Promise((resolve) => setTimeout(resolve));
  say("verifying");
  await pause();
  const run = (pairs) => pairs.map(([key, blocks]) => rust.run(choice, key, blocks));
  const result = await verified(rust, choice, byKey, run);
  if (!isRight(result)) return result;
  say("measuring");
  const [key, blocks] = [random(choice.keyBytes), random(1 << 18)];
  let [bits, time] = [0, 0];
  do {
    await pause();
    const start = seconds();
    rust.run(choice, key, blocks);
    time += seconds() - start;
    bits += 8 * blocks.length;
  } while (time < leastSeconds());
  return { ...result, speed: bits / time };
}

/** A result as the page says it. */
function sentence({ name, keyBytes, decrypts }, { count, wrong, agrees, speed, roof }) {
  const what = `${name}, ${8 * keyBytes} bits, ${decrypts ? "decryption" : "encryption"}`;
  const rounded = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  if (wrong.length) return `${what}: WRONG: ${wrong.length} of ${count} vectors, the first is ${wrong[0]}.`;
  if (!agrees) return `${what}: WRONG: random blocks are not what the reference makes of them.`;
  const vectors = count ? `all ${count.toLocaleString("en")} vectors right` : "no vectors to be had";
  const share = roof ? `, ${rounded((100 * speed) / roof)}% of this GPU's estimated roof of ${rounded(roof / 1e9)}` : "";
  return `${what}: ${vectors}, random blocks as the reference computes them; ${rounded(speed / 1e9)} Gbit/s${share}.`;
}

/** The page's form. Its `data-state` is `loading`, `ready`, `running`, `right` or `wrong`. */
async function start() {
  const form = document.getElementById("browser");
  const { cipher: ciphers, key: keys, direction } = form.elements;
  const output = (part) => form.querySelector(`[name=${part}]`);
  const state = (state, verdict) => {
    form.dataset.state = state;
    output("verdict").textContent = verdict;
  };
  const where = (text) => (output("where").textContent = text);
  if (typeof LANECRYPT === "undefined") throw new Error("this copy of the book was built without its module.");
  const rust = await Rust.load(LANECRYPT.module);
  const vectors = JSON.parse(new TextDecoder().decode(await unpacked(LANECRYPT.vectors)));
  const gpu = await Gpu.open().then(
    (gpu) => (where(`WebGPU: ${gpu.name}.`), gpu),
    (error) => void where(`${error.message} Lanecrypt's Rust runs on one core of the CPU instead, in WebAssembly with ${rust.cpu}.`),
  );

  ciphers.replaceChildren(...rust.ciphers.map(({ name, standard }, number) => new Option(`${name} (${standard})`, number)));
  ciphers.onchange = () => {
    const lengths = rust.ciphers[ciphers.value].keys.map(({ bytes }, number) => new Option(`${8 * bytes} bits`, number));
    keys.replaceChildren(...lengths);
  };
  ciphers.onchange();
  form.onsubmit = async (event) => {
    event.preventDefault();
    const cipher = Number(ciphers.value);
    const { name, block, keys: lengths } = rust.ciphers[cipher];
    const { bytes: keyBytes, operations } = lengths[keys.value];
    const decrypts = direction.value === "decrypt";
    const choice = { cipher, name, block, keyBytes, decrypts, operations: operations[Number(decrypts)] };
    const say = (text) => state("running", `${text} …`);
    form.elements.run.disabled = true;
    try {
      const byKey = vectorsByKey(vectors, choice);
      const result = await (gpu ? onGpu(gpu, rust, choice, byKey, say) : onCpu(rust, choice, byKey, say));
      state(isRight(result) ? "right" : "wrong", sentence(choice, result));
    } catch (error) {
      state("wrong", `${error.message ?? error}`);
    }
    form.elements.run.disabled = false;
  };
  form.elements.run.disabled = false;
  state("ready", "");
}

start().catch((error) => {
  const form = document.getElementById("browser");
  form.dataset.state = "wrong";
  form.querySelector("[name=where]").textContent = `The page cannot run here: ${error.message}`;
});
