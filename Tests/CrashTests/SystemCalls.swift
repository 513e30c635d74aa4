import Foundation

/// The system calls of a service, in the order in which they returned.
enum SystemCalls {
  /// Whether the tracer works here. If the program is missing, the tests that need it run and fail:
  /// `Scripts/setup --tests` installs it.
  static let mayBeTraced =
    !Tool.run("strace", "--version") || Tool.run("strace", "--output=/dev/null", "true")

  /// The command that starts a program under the tracer. The tracer is a process of its own, so that the
  /// started process is the program.
  ///
  /// - Parameter file: the file for the calls, one per line.
  static func tracer(file: String) -> [String] {
    [
      "strace", "--daemonize", "--follow-forks", "--decode-fds=path", "--string-limit=48",
      // Those with a question mark do not exist on every machine.
      "--trace=fsync,fdatasync,recvfrom,sendto,sendmsg,write,writev,openat,linkat,?link,"
        + "renameat,?renameat2,?rename,unlinkat,?unlink",
      "--output=\(file)",
    ]
  }

  /// The calls that have returned. A call that was interrupted by another thread's call is placed where it
  /// returned, with its arguments.
  static func read(_ file: String) -> [String] {
    let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    var begun: [Substring: Substring] = [:]
    var calls: [String] = []
    for line in text.split(separator: "\n") {
      guard let space = line.firstIndex(of: " ") else { continue }
      let thread = line[..<space]
      let call = line[space...].drop { $0 == " " }
      if let end = call.range(of: "<unfinished ...>") {
        begun[thread] = call[..<end.lowerBound]
      } else if call.hasPrefix("<... "), let first = begun.removeValue(forKey: thread) {
        calls.append("\(first)\(call)")
      } else {
        calls.append(String(call))
      }
    }
    return calls
  }

  /// The positions of calls with a name, or any name, that contain a text.
  static func places(of text: String, _ name: String = "", in calls: [String]) -> [Int] {
    calls.indices.filter { calls[$0].hasPrefix(name) && calls[$0].contains(text) }
  }

  /// Whether a call has synced a file whose path ends with this.
  static func isSync(_ call: String, of pathEnd: String) -> Bool {
    (call.hasPrefix("fdatasync(") || call.hasPrefix("fsync(")) && call.contains("\(pathEnd)>")
      && call.hasSuffix("= 0")
  }
}
