import CLinux
import Dispatch
import Glibc

/// How the process ends, and what does not end it.
package enum ProcessEnd {
  /// Ignores signals whose default action ends a process and that mean nothing to this one.
  package static func ignoreUnusedSignals() {
    for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
  }

  /// Ends the process after a time, whatever its threads wait for: no code of it runs any more, and
  /// the kernel releases its locks. The data survives, as it does a crash.
  ///
  /// - Parameter warning: written first, if standard error takes it at once.
  package static func force(after time: Duration, status: Int32, warning: [UInt8]) {
    let seconds = max(0, time.components.seconds)
    let nanoseconds = time.components.attoseconds / 1_000_000_000
    // A serial queue brings a thread of its own: Dispatch's shared ones may all be blocked.
    DispatchQueue(label: "larder.end", qos: .userInitiated).async {
      var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(max(0, nanoseconds)))
      var rest = timespec()
      while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
      StandardStream.error.write(warning, patience: .zero)
      _exit(status)
    }
  }

  /// Starts the program over in the same process, which keeps its number: its supervisor sees
  /// no end. Call it once everything is closed: descriptors are (`O_CLOEXEC`), and what still runs ends
  /// with the program's image (execve(2)).
  ///
  /// - Returns: the system's error; it does not return otherwise.
  package static func startOver() -> Int32 {
    // What is ignored or blocked here would stay so: a signal to end that comes before the next
    // image looks for it must end it.
    for ending in [SIGTERM, SIGINT] { signal(ending, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    // By its path where that is still the same file, so that the process keeps its name.
    let link = "/proc/self/exe"
    if let path = realpath(link, nil) {
      execv(path, CommandLine.unsafeArgv)
      free(path)
    }
    execv(link, CommandLine.unsafeArgv)
    return errno
  }
}
