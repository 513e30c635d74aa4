import FoundationEssentials
import Gateway
import Logging
package import ServiceLifecycle
import UnixSignals

/// Runs services until the process is told to end.
package enum ServiceRun {
  package static func untilStopped(_ services: [any Service]) async throws {
    let logger = Logger(label: "larder") {
      LineLogHandler(label: $0, threshold: LogThreshold(.notice), isJSON: false) {
        StandardStreams.error($0)
      }
    }
    try await ServiceGroup(
      services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
    ).run()
  }

  package static func secondsSince1970() -> Int64 { Int64(Date().timeIntervalSince1970) }
}

/// Something that already runs, as a service: it ends when the others are told to.
package struct StoppableService: Service {
  private let stop: @Sendable () async -> Void

  package init(stop: @escaping @Sendable () async -> Void) {
    self.stop = stop
  }

  package func run() async throws {
    try? await gracefulShutdown()
    await stop()
  }
}
