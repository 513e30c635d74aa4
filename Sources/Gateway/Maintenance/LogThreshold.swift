package import Logging
import Synchronization

/// The minimum log level of all loggers of the process; can change at any time.
package final class LogThreshold: Sendable {
  private let place: Atomic<Int>

  package init(_ level: Logger.Level) {
    place = Atomic(Self.place(of: level))
  }

  package var level: Logger.Level {
    get { Logger.Level.allCases[place.load(ordering: .relaxed)] }
    set { place.store(Self.place(of: newValue), ordering: .relaxed) }
  }

  private static func place(of level: Logger.Level) -> Int {
    Logger.Level.allCases.firstIndex(of: level) ?? 0
  }
}
