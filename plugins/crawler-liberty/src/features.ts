import { STATES, type State } from "@trawler/application";
import * as z from "zod";
import type { Figures } from "./figures.ts";

const number = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

export const liberty = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with figures."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": number("1", "Port that was asked."),
  "process.uptime": number("s", "Time since the JVM began."),
  "jvm.memory.used": number("By", "Bytes of the heap in use."),
  "jvm.memory.committed": number("By", "Bytes of the heap that the JVM has taken."),
  "jvm.memory.limit": number("By", "Most bytes that the heap may have."),
  "jvm.cpu.time": number("s", "CPU time that the JVM has used."),
  "jvm.cpu.recent_utilization": number("1", "Share of all CPUs that the JVM used of late, 0 to 1."),
  "jvm.thread.count": number("{thread}", "Threads."),
  "jvm.class.count": number("{class}", "Classes that are loaded."),
  "jvm.gc.count": number("{collection}", "Collections of all collectors."),
  "jvm.gc.duration": number("s", "Time spent on them."),
});
export const libertyThreadPool = z.strictObject({
  pool: z.string().describe("Name of the pool."),
  "liberty.threads.current": number("{thread}", "Threads of the pool."),
  "liberty.threads.busy": number("{thread}", "Of these, those that run a task."),
});
export const libertyServlet = z.strictObject({
  servlet: z.string().describe("Application and servlet, as the server joins them."),
  "liberty.request.count": number("{request}", "Requests."),
  "liberty.request.duration.sum": number("s", "Time spent on all requests."),
});
export const libertySession = z.strictObject({
  application: z.string().describe("Virtual host and application, as the server joins them."),
  "liberty.session.created": number("{session}", "Sessions that have begun."),
  "liberty.session.live": number("{session}", "Sessions that are kept."),
  "liberty.session.active": number("{session}", "Of these, those that serve a request."),
  "liberty.session.invalidated": number("{session}", "Sessions that have ended."),
  "liberty.session.expired": number("{session}", "Of these, those that ended by their time."),
});

export function serverOf(state: State, reason: string | null, port: number, figures: Figures | null) {
  const one = (name: string): number | null => figures?.one(name) ?? null;
  return {
    state,
    reason,
    "server.port": port,
    "process.uptime": one("jvm_uptime_seconds"),
    "jvm.memory.used": one("memory_usedHeap_bytes"),
    "jvm.memory.committed": one("memory_committedHeap_bytes"),
    "jvm.memory.limit": one("memory_maxHeap_bytes"),
    "jvm.cpu.time": one("cpu_processCpuTime_seconds"),
    "jvm.cpu.recent_utilization": one("cpu_processCpuLoad_percent"),
    "jvm.thread.count": one("thread_count"),
    "jvm.class.count": one("classloader_loadedClasses_count"),
    "jvm.gc.count": figures?.sum("gc_total") ?? null,
    "jvm.gc.duration": figures?.sum("gc_time_seconds") ?? null,
  };
}

export function poolsOf(figures: Figures) {
  const size = figures.by("pool", "threadpool_size");
  const active = figures.by("pool", "threadpool_activeThreads");
  return figures.values("pool", ["threadpool_size", "threadpool_activeThreads"]).map((pool) => ({
    pool,
    "liberty.threads.current": size.get(pool) ?? null,
    "liberty.threads.busy": active.get(pool) ?? null,
  }));
}

export function servletsOf(figures: Figures) {
  const count = figures.by("servlet", "servlet_request_total");
  const time = figures.by("servlet", "servlet_responseTime_total_seconds");
  return figures.values("servlet", ["servlet_request_total"]).map((servlet) => ({
    servlet,
    "liberty.request.count": count.get(servlet) ?? null,
    "liberty.request.duration.sum": time.get(servlet) ?? null,
  }));
}

export function sessionsOf(figures: Figures) {
  const created = figures.by("appname", "session_create_total");
  const live = figures.by("appname", "session_liveSessions");
  const active = figures.by("appname", "session_activeSessions");
  const invalidated = figures.by("appname", "session_invalidated_total");
  const expired = figures.by("appname", "session_invalidatedbyTimeout_total");
  return figures.values("appname", ["session_create_total", "session_liveSessions"]).map((application) => ({
    application,
    "liberty.session.created": created.get(application) ?? null,
    "liberty.session.live": live.get(application) ?? null,
    "liberty.session.active": active.get(application) ?? null,
    "liberty.session.invalidated": invalidated.get(application) ?? null,
    "liberty.session.expired": expired.get(application) ?? null,
  }));
}
