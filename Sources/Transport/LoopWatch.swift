import CLinux
import Glibc
import Synchronization

/// A watchdog for blocked event loops in debug builds: each event, timer and job can take ``limit``. A
/// step that computes for longer, or waits for a disk, a lock or another thread, is reported with its
/// stack. Release builds do not contain it.
///
/// It is enabled if `LARDER_TEST_LOOP_WATCH` names a file for the reports, as `Scripts/test` does.
enum LoopWatch {
  /// The limit on CPU time, or on the time in which the thread waited. A step in which the thread was
  /// preempted counts only by its CPU time, since preemption looks like waiting.
  static let limit = Duration.milliseconds(50)

  @inline(__always)
  static func step(_ kind: StaticString, _ body: () -> Void) {
    #if DEBUG
      guard let watcher else { return body() }
      let start = Reading.now()
      watcher.began(at: start.wall)
      body()
      watcher.ended(kind, from: start, to: Reading.now())
    #else
      body()
    #endif
  }
}

#if DEBUG
  extension LoopWatch {
    /// The clocks of the calling thread.
    struct Reading {
      var wall: LoopInstant
      var cpu: Duration
      /// How often the thread yielded the processor to wait for something.
      var waits: Int
      /// How often the system gave the processor to others.
      var preemptions: Int

      static func now() -> Reading {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Reading(
          wall: LoopClock.now(), cpu: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec),
          waits: larder_thread_switches(0), preemptions: larder_thread_switches(1))
      }
    }

    /// Returns the report of a step; nil if it was quick.
    static func finding(_ kind: StaticString, from start: Reading, to end: Reading) -> String? {
      let wall = end.wall.elapsed(since: start.wall)
      let cpu = end.cpu - start.cpu
      let wasLeftAlone = end.preemptions == start.preemptions
      // A short wait within a step that only computes for long is no fault.
      let waits = wasLeftAlone && wall - cpu > limit ? end.waits - start.waits : 0
      guard cpu > limit || waits > 0 else { return nil }
      return "\(time(nil)) process \(getpid()): a loop's \(kind) took \(wall), "
        + "computed for \(cpu) and waited \(waits) times\n"
    }

    private static let watcher = getenv("LARDER_TEST_LOOP_WATCH").map {
      Watcher(path: String(cString: $0))
    }

    /// Checks the steps in progress every few milliseconds, and makes a thread record its own stack,
    /// repeatedly, in the middle of a step that takes too long.
    private final class Watcher: Sendable {
      private struct Steps {
        var began: [pthread_t: LoopInstant] = [:]
        /// How many stacks of the current step were recorded.
        var noted: [pthread_t: Int] = [:]
      }

      private let path: String
      private let steps = Mutex(Steps())

      init(path: String) {
        self.path = path
        larder_trace_on_signal()
        var thread = pthread_t()
        let me = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
          &thread, nil,
          { me in
            guard let me else { return nil }
            Unmanaged<Watcher>.fromOpaque(me).takeUnretainedValue().watch()
          }, me)
      }

      func began(at now: LoopInstant) {
        steps.withLock { $0.began[pthread_self()] = now }
      }

      func ended(_ kind: StaticString, from start: Reading, to end: Reading) {
        let thread = pthread_self()
        let isNoted = steps.withLock { steps in
          steps.began[thread] = nil
          return steps.noted.removeValue(forKey: thread) != nil
        }
        guard let line = finding(kind, from: start, to: end) else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        defer { close(file) }
        line.utf8CString.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count - 1) }
        if isNoted { larder_trace(file) }
      }

      private func watch() -> Never {
        while true {
          usleep(10_000)
          let now = LoopClock.now()
          steps.withLock { steps in
            for (thread, began) in steps.began
            where now.elapsed(since: began) > limit * (steps.noted[thread, default: 0] + 1) {
              steps.noted[thread, default: 0] += 1
              pthread_kill(thread, SIGPROF)
            }
          }
        }
      }
    }
  }
#endif
