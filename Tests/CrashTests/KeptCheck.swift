import LosslessJSON
import TestSupport
import Testing

/// Asks a service whose upstream is gone for everything that was promised.
struct KeptCheck {
  let port: Int
  /// For messages: where a failure can be run again.
  let note: String

  /// Every answer comes back as it was, byte for byte.
  func answers(_ answers: [Kept.Read: [UInt8]]) async throws {
    let (port, note) = (port, note)
    try await onOwnThread {
      let client = try RawClient(port: port)
      for (read, expected) in answers {
        let answer = try client.request("GET", read.target, headers: read.headers)
        #expect(answer.status == 200, "\(note): \(read.target) \(answer.text)")
        #expect(answer.cacheStatus.hasPrefix("larder; hit"), "\(note): \(read.target)")
        #expect(
          answer.body == expected,
          "\(note): \(read.target): \(answer.text), not \(String(decoding: expected, as: UTF8.self))"
        )
      }
    }
  }

  /// A change that was answered shows; one that was under way shows whole or not at all.
  func changes(_ changes: [String: Kept.Change]) async throws {
    let (port, note) = (port, note)
    try await onOwnThread {
      let client = try RawClient(port: port)
      for (film, change) in changes {
        let answer = try client.request("GET", "/api/films/\(film)")
        #expect(answer.status == 200, "\(note): \(film) \(answer.text)")
        let shown = try JSONValue(parsing: answer.body)["data"]?["film"]
        let mark = shown?["synopsis"]?.string
        let possible = change.unsettled.union(change.mark.map { [$0] } ?? [])
        if change.mark != nil {
          #expect(possible.contains(mark ?? ""), "\(note): \(film) is \(mark ?? "gone")")
        }
        if let mark, possible.contains(mark) {
          #expect(shown?["tagline"]?.string == mark, "\(note): \(film) is half changed")
        }
      }
    }
  }

  /// What was deleted does not come back.
  func deletions(_ films: Set<String>) async throws {
    let (port, note) = (port, note)
    try await onOwnThread {
      let client = try RawClient(port: port)
      for film in films {
        let answer = try client.request("GET", "/api/films/\(film)")
        let shown = try JSONValue(parsing: answer.body)["data"]?["film"] ?? .null
        #expect(shown.isNull, "\(note): \(film) is back: \(answer.text)")
      }
    }
  }
}
