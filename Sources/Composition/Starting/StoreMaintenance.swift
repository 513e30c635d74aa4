import Gateway
import Logging
import Model
import Storage
import Upstream

/// Keeps the store from growing without end, see ``Gateway/Expiry``, and notes until when the service
/// has lived.
struct StoreMaintenance: Sendable {
  /// Between passes.
  private static let rest = Duration.seconds(300)
  /// Between the steps of a pass, each a few milliseconds of the writer.
  private static let pause = Duration.milliseconds(50)

  private let pass: ExpiryPass
  private let logger: Logger

  init(
    store: Store, devices: DeviceRegistry, queue: SyncQueue, registry: OperationRegistry,
    bytesMax: Int, clock: TrustedClock, logger: Logger
  ) {
    self.logger = logger
    let queries = registry.operations.filter { $0.kind == .query }
    pass = ExpiryPass(
      store: store, devices: devices, queue: queue,
      policy: EvictionPolicy(
        windows: Dictionary(uniqueKeysWithValues: queries.map { ($0.name, $0.cache.servedFor) }),
        bytesMax: bytesMax),
      clock: clock)
  }

  /// Runs until it is cancelled. A store that cannot be written is tried again at the next pass.
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
          logger.warning("the store was not cleaned", metadata: ["cause": "\(error)"])
          next = nil
        }
        try? await Task.sleep(for: next == nil ? Self.rest : Self.pause)
      }
    }
  }

  /// At the end: the next start compares its clock with this moment.
  func noteLived() async {
    do {
      try await pass.noteLived()
    } catch {
      logger.warning("the time of the end was not noted", metadata: ["cause": "\(error)"])
    }
  }
}

extension CachePolicy {
  /// The longest time after it was received for which any window serves an answer.
  fileprivate var servedFor: Duration { maxAge + max(staleWhileRevalidate, staleIfError) }
}
