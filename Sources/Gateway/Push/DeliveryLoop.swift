import Logging
import Model
import Storage
import Transport

/// The loop of a task that sends what is due in the store, and the environment of its rounds.
///
/// There is no polling: it waits for the signal, for the next due time or for the sender. A store that
/// fails does not end it.
struct DeliveryLoop: Sendable {
  /// The result of one round.
  enum Round {
    case worked
    /// Nothing is due before the time; nil if nothing is left.
    case idle(until: Timestamp?)
    /// The sender is unavailable for this long; nil for until the signal.
    case unavailable(Duration?)
  }

  /// The pause before a failed store operation is retried.
  private static let storePause = Duration.seconds(1)

  let environment: PushEnvironment
  let signal: AsyncSignal
  let availability: PushAvailability
  let logger: Logger
  /// The log message of a failing store.
  let storeFailure: Logger.Message

  /// Repeats rounds until cancelled.
  func run(_ round: () async throws(StorageError) -> Round) async {
    while !Task.isCancelled {
      // Read first, so that work that arrives during the round is noticed.
      let seen = signal.count
      do throws(StorageError) {
        switch try await round() {
        case .worked: break
        case .idle(let due):
          await signal.wait(
            after: seen,
            atMost: due.map { max(.milliseconds(1), environment.now.elapsed(until: $0)) })
        case .unavailable(let wait): await signal.wait(after: seen, atMost: wait)
        }
      } catch {
        availability.releaseProbe()
        await pause(error)
      }
    }
  }

  /// Performs a store operation, and repeats it until it succeeds or the task is cancelled.
  func retry(_ operation: () async throws(StorageError) -> Void) async {
    while !Task.isCancelled {
      do throws(StorageError) {
        return try await operation()
      } catch {
        await pause(error)
      }
    }
  }

  /// Logs the error and waits before the store is tried again.
  func pause(_ error: StorageError) async {
    if error != .closed { logger.error(storeFailure, metadata: ["cause": "\(error)"]) }
    try? await environment.sleep(Self.storePause)
  }
}
