import LosslessJSON
import TestSupport
import Testing

/// Requests everything that was promised from a service whose upstream is unavailable.
struct PromiseCheck {
  let port: Int
  /// The seed and round, for messages: enough to run a failure again.
  let note: String

  /// Every response is the same as before, byte for byte.
  func answers(_ answers: [Promises.Read: [UInt8]]) async throws {
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

  /// An acknowledged change shows; one in progress shows whole or not at all.
  func changes(_ changes: [String: Promises.Change]) async throws {
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

  /// Deleted films stay deleted.
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
