import Model
import Storage
import Synchronization

/// Removes overlays that outlive their settled mutations when their time is over.
final class LingeringOverlays: Sendable {
  private struct State {
    var expiry = OverlayExpiry()
    var hasEnded = false
  }

  private let store: Store
  private let environment: QueueEnvironment
  private let state = Mutex(State())

  init(store: Store, environment: QueueEnvironment) {
    self.store = store
    self.environment = environment
  }

  /// Removes overlays until none is left that expires.
  func run() async {
    while !state.withLock({ $0.hasEnded }) {
      state.withLock { $0.expiry.willLook() }
      var next: Timestamp?
      do throws(StorageError) {
        next = try await store.dropLingering(now: environment.now)
      } catch {
        guard error != .closed else { return }
        next = environment.now.advanced(by: QueueEnvironment.storePause)
      }
      guard let next else {
        if state.withLock({ $0.expiry.foundNothing() }) { return }
        continue
      }
      let wait = max(.milliseconds(1), environment.now.elapsed(until: next))
      do { try await environment.sleep(wait) } catch { return }
    }
  }

  /// Notes an overlay that outlives its mutation.
  func noteLingering() {
    if state.withLock({ $0.expiry.noteLingering() }) { Task.detached { await self.run() } }
  }

  /// Ends the task.
  func end() { state.withLock { $0.hasEnded = true } }
}
