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
      "--trace=fsync,fdatasync,recvfrom,sendto,sendmsg,write,writev", "--output=\(file)",
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
}
