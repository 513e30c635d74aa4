import Glibc
import Synchronization
import TestSupport

/// A client that reads one film after the other, each for the first time, so that each is a change; it
/// retries a refused connection.
final class ReadingClient: Sendable {
  private static let filmsMax = 1200
  private let state = Mutex((films: Set<String>(), isOver: false, faults: [String]()))

  /// The ids of the films it has read.
  var films: Set<String> { state.withLock { $0.films } }
  var faults: [String] { state.withLock { $0.faults } }

  func end() { state.withLock { $0.isOver = true } }

  func run(port: Int) {
    var number = 1
    while number <= Self.filmsMax, !state.withLock({ $0.isOver }) {
      do {
        let answer = try RawClient(port: port).request("GET", "/api/films/f\(number)")
        state.withLock { state in
          if answer.status == 200 {
            state.films.insert("f\(number)")
          } else {
            state.faults.append("f\(number): \(answer.status) \(answer.text)")
          }
        }
        number += 1
      } catch RawClient.Problem.connect(ECONNREFUSED) {
        // Refused for the moment.
      } catch {
        state.withLock { $0.faults.append("f\(number) was sent and not answered: \(error)") }
      }
    }
  }
}
