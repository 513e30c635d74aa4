import Foundation

/// What a service asked of the system, in the order in which the calls returned.
enum SystemCalls {
  /// Where the program is missing the test that needs it runs and fails: `Scripts/setup --tests`
  /// installs it.
  static let mayBeTraced =
    !Tool.run("strace", "--version") || Tool.run("strace", "--output=/dev/null", "true")

  /// What to start a program under. The tracer is a process of its own, so that the one that is
  /// started is the program.
  ///
  /// - Parameter file: where the calls are written, one a line.
  static func tracer(file: String) -> [String] {
    [
      "strace", "--daemonize", "--follow-forks", "--decode-fds=path", "--string-limit=48",
      // Those with a question mark are not there on every machine.
      "--trace=fsync,fdatasync,recvfrom,sendto,sendmsg,write,writev,openat,linkat,?link,"
        + "renameat,?renameat2,?rename,unlinkat,?unlink",
      "--output=\(file)",
    ]
  }

  /// The calls that have returned. One that another thread's call came between stands where it
  /// returned, with what it was called with.
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

  /// Where calls of a name, or of any, have a text in them.
  static func places(of text: String, _ name: String = "", in calls: [String]) -> [Int] {
    calls.indices.filter { calls[$0].hasPrefix(name) && calls[$0].contains(text) }
  }

  /// Whether a call has made a file, whose path ends in this, survive a power failure.
  static func isSync(_ call: String, of pathEnd: String) -> Bool {
    (call.hasPrefix("fdatasync(") || call.hasPrefix("fsync(")) && call.contains("\(pathEnd)>")
      && call.hasSuffix("= 0")
  }
}
