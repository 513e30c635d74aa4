import Glibc

/// Starts the program over in the same process, which keeps its number: whoever supervises it sees no
/// end.
enum ProgramRestart {
  /// Everything is closed by then: the descriptors are (`O_CLOEXEC`), and what runs ends with the
  /// program's image (execve(2)).
  ///
  /// - Throws: ``StartFailure`` where the program cannot be run again.
  static func now() throws(StartFailure) {
    // What is ignored or blocked here would stay so: a signal to end that comes before the next
    // image looks for it must end it.
    for ending in [SIGTERM, SIGINT] { signal(ending, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    throw StartFailure(
      .addressInUse, "The program could not be started over (errno \(errno)). Start it again.")
  }
}
