import HTTPWire

@testable import HTTPServer

/// Paths, patterns of paths and targets in logs: a decoded path never climbs, and a logged one is printable
/// and has no ticket.
enum RequestPathTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)[...]
    segments(bytes)
    if let pattern = RoutePattern(String(decoding: bytes, as: UTF8.self)) {
      Finding.require(RoutePattern(pattern.description) == pattern, "a pattern changes: \(pattern)")
    }
    logged(bytes.filter { $0 > 0x20 && $0 < 0x7F }[...])
  }

  private static func segments(_ bytes: ArraySlice<UInt8>) {
    guard let segments = PathSegments.decode(bytes) else { return }
    Finding.require(segments.count <= PathSegments.segmentsMax, "too many segments")
    Finding.require(!segments.contains { $0 == "." || $0 == ".." }, "a path that climbs")
  }

  /// - Parameter target: a target that the parser accepts.
  private static func logged(_ target: ArraySlice<UInt8>) {
    var line: [UInt8] = []
    LoggedTarget.append(target, to: &line)
    Finding.require(line.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "not printable")
    let text = String(decoding: line, as: UTF8.self)
    guard let question = text.firstIndex(of: "?") else { return }
    for part in text[question...].dropFirst().split(separator: "&") {
      // As a reader of the log could decode it.
      let read = PercentCoding.decode(Array(part.utf8)[...]) ?? String(part)
      guard read.hasPrefix("ticket=") else { continue }
      Finding.require(part == "ticket=...", "a ticket is logged: \(text)")
    }
  }
}
