import Gateway
import Logging
import Model
import Storage
import Upstream

/// Removes expired data from the store, see ``Gateway/Expiry``, and records the time until which the
/// service has run.
struct StoreMaintenance: Sendable {
  /// Pause between passes.
  private static let rest = Duration.seconds(300)
  /// Pause between the steps of a pass; each occupies the writer for a few milliseconds.
  private static let pause = Duration.milliseconds(50)

  private let pass: ExpiryPass
  private let logger: Logger

  init(
    store: Store, devices: DeviceRegistry, queue: SyncQueue, registry: OperationRegistry,
    bytesMax: Int, keepLocal: [String: Duration], clock: TrustedClock, logger: Logger
  ) {
    self.logger = logger
    let queries = registry.operations.filter { $0.kind == .query }
    pass = ExpiryPass(
      store: store, devices: devices, queue: queue,
      policy: EvictionPolicy(
        windows: Dictionary(uniqueKeysWithValues: queries.map { ($0.name, $0.cache.servedFor) }),
        bytesMax: bytesMax, keepLocal: keepLocal),
      clock: clock)
  }

  /// Runs until cancelled. A store that cannot be written is retried at the next pass.
  func run() async {
    var noted = ContinuousClock.now
    while !Task.isCancelled {
      var next = Expiry.allCases.first
      while let expiry = next, !Task.isCancelled {
        do {
          next = try await pass.step(of: expiry)
          // A pass over a large store takes longer than that.
          if next == nil || ContinuousClock.now - noted > Self.rest {
            try await pass.noteLived()
            noted = .now
          }
        } catch {
          if Task.isCancelled { return }
          logger.warning(
            "expired data was not removed from the store", metadata: ["cause": "\(error)"])
          next = nil
        }
        try? await Task.sleep(for: next == nil ? Self.rest : Self.pause)
      }
    }
  }

  /// Records the time of the shutdown, with which the next start compares its clock.
  func noteLived() async {
    do {
      try await pass.noteLived()
    } catch {
      logger.warning("the time of the shutdown was not stored", metadata: ["cause": "\(error)"])
    }
  }
}

extension CachePolicy {
  /// The longest time after it was received for which a response is served.
  fileprivate var servedFor: Duration { maxAge + max(staleWhileRevalidate, staleIfError) }
}
