/** What a process gave up for good; false where that could not be done here. */
export interface Confinement {
  /** All capabilities, so that the kernel shows it neither memory nor environment of a process that has one. */
  readonly capabilities: boolean;
  /** The system calls of `DENIED`: each fails with EPERM, in every thread. */
  readonly systemCalls: boolean;
}

interface Architecture {
  /** As linux/audit.h names it to a filter. */
  readonly audit: number;
  readonly seccomp: number;
  readonly capset: number;
  readonly denied: readonly number[];
}

/**
 * socket socketpair connect bind listen accept accept4, execve execveat, ptrace process_vm_readv process_vm_writev,
 * kill pidfd_send_signal pidfd_getfd, setns unshare mount chroot, bpf perf_event_open keyctl open_by_handle_at,
 * io_uring_setup (which could do some of them unseen). Numbers of asm/unistd_64.h and asm-generic/unistd.h.
 */
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    seccomp: 317,
    capset: 126,
    denied: [
      41, 53, 42, 49, 50, 43, 288, 59, 322, 101, 310, 311, 62, 424, 438, 308, 272, 165, 161, 321, 298, 250, 304, 425,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    seccomp: 277,
    capset: 91,
    denied: [
      198, 199, 203, 200, 201, 202, 242, 221, 281, 117, 270, 271, 129, 424, 438, 268, 97, 40, 51, 280, 241, 219, 265,
      425,
    ],
  },
};

const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;
const LINUX_CAPABILITY_VERSION_3 = 0x20080522;
const SIGKILL = 9;
const EPERM = 1;

/**
 * Takes from this process, for good, what one that only computes does not need: capabilities, network, other programs,
 * other processes; and has it end with the one that started it. Needs no privilege. Throws nothing.
 */
export async function confine(): Promise<Confinement> {
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== "linux" || architecture === undefined) return { capabilities: false, systemCalls: false };
  try {
    const { default: koffi } = await import("koffi");
    const library = koffi.load(null);
    const prctl: (...values: readonly number[]) => number = library.func("prctl", "int", [
      "int",
      "ulong",
      "ulong",
      "ulong",
      "ulong",
    ]);
    const capset: (number: number, header: Uint8Array, data: Uint8Array) => number = library.func("syscall", "long", [
      "long",
      "void *",
      "void *",
    ]);
    const program = koffi.struct({ length: "uint16", filter: "void *" });
    const seccomp: (number: number, operation: number, flags: number, program: object) => number = library.func(
      "syscall",
      "long",
      ["long", "uint", "uint", koffi.pointer(program)],
    );
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const header = Buffer.alloc(8);
    header.writeUInt32LE(LINUX_CAPABILITY_VERSION_3);
    const filter = seccompFilter(architecture.audit, architecture.denied);
    return {
      capabilities: capset(architecture.capset, header, Buffer.alloc(24)) === 0,
      systemCalls:
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) === 0 &&
        seccomp(architecture.seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, {
          length: filter.length / INSTRUCTION,
          filter,
        }) === 0,
    };
  } catch {
    return { capabilities: false, systemCalls: false };
  }
}

const INSTRUCTION = 8;
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
/** From here on x86-64 has the x32 calls, the same ones under other numbers. */
const X32 = 0x40000000;

/** A seccomp filter, as linux/filter.h lays one out, that lets all calls but these pass; of another ABI it lets none. */
export function seccompFilter(audit: number, denied: readonly number[]): Buffer {
  const length = denied.length + 6;
  const deny = length - 1;
  const filter = Buffer.alloc(length * INSTRUCTION);
  let at = 0;
  const add = (code: number, value: number, whenTrue?: number, whenFalse?: number): void => {
    const jump = (target: number | undefined): number => (target === undefined ? 0 : target - at - 1);
    filter.writeUInt16LE(code, at * INSTRUCTION);
    filter.writeUInt8(jump(whenTrue), at * INSTRUCTION + 2);
    filter.writeUInt8(jump(whenFalse), at * INSTRUCTION + 3);
    filter.writeUInt32LE(value, at * INSTRUCTION + 4);
    at += 1;
  };
  // struct seccomp_data: the number at 0, the architecture at 4.
  add(LOAD, 4);
  add(JUMP_IF_EQUAL, audit, undefined, deny);
  add(LOAD, 0);
  add(JUMP_IF_GREATER_OR_EQUAL, X32, deny);
  for (const number of denied) add(JUMP_IF_EQUAL, number, deny);
  add(RETURN, ALLOW);
  add(RETURN, ERRNO + EPERM);
  return filter;
}
