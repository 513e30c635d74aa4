import Glibc
import LosslessJSON
import Synchronization
import TestSupport

/// A client of the change stream that outlives the service: it reconnects with its cursor as soon as the
/// service listens, and records a fault if it could not continue or got an event twice.
final class StreamFollower: Sendable {
  private struct State {
    var place: String?
    var isFollowing = false
    var isOver = false
    var streams = 0
    /// The cursors of the changes it got.
    var cursors: Set<String> = []
    var films: Set<String> = []
    var faults: [String] = []
  }

  private let state = Mutex(State())

  /// Whether it has its first cursor.
  var isFollowing: Bool { state.withLock { $0.isFollowing } }
  /// The number of streams that continued an earlier one.
  var resumptions: Int { state.withLock { max(0, $0.streams - 1) } }
  var films: Set<String> { state.withLock { $0.films } }
  var faults: [String] { state.withLock { $0.faults } }

  /// Ends it after the stream that it reads.
  func end() { state.withLock { $0.isOver = true } }

  func run(port: Int) async {
    while !state.withLock({ $0.isOver }) {
      do {
        try await readStream(port: port)
      } catch RawClient.Problem.connect(ECONNREFUSED) {
        // Refused for the moment.
      } catch {
        state.withLock { $0.faults.append("a stream did not end properly: \(error)") }
      }
    }
  }

  private func readStream(port: Int) async throws {
    let place = state.withLock { $0.place }
    let stream = try await EventClient.open(
      port: port, "/v1/changes/stream?since=now&types=Film",
      headers: place.map { [("Last-Event-ID", $0)] } ?? [])
    // A service that is about to end refuses new streams.
    if stream.status == 503 { return }
    guard stream.status == 200 else {
      return state.withLock { $0.faults.append("refused with \(stream.status)") }
    }
    state.withLock { $0.streams += 1 }
    while let event = try await stream.nextEvent() { try note(event) }
  }

  private func note(_ event: EventClient.Event) throws {
    let change = try JSONValue(parsing: Array(event.data.utf8))
    state.withLock { state in
      state.isFollowing = true
      state.place = event.id ?? state.place
      switch event.event {
      case "bookmark":
        break
      case "change":
        state.films.insert(change["id"]?.string ?? "")
        if !state.cursors.insert(event.id ?? "").inserted {
          state.faults.append("told twice: \(event)")
        }
      default:
        state.faults.append("\(event)")
      }
    }
  }
}
