import Logging
import ServiceLifecycle
import Synchronization
import Transport
import UnixSignals

/// Reloads certificates, operations and settings at each SIGHUP, and operations and settings when their files
/// change if they are watched.
struct ReloadService: Service {
  /// Trapped already, because a signal right after the ready line must not end the process.
  let hangups: UnixSignalsSequence
  let reloader: Reloader
  let service: LarderService
  /// The versions of the files when they were read; nil if files are not watched.
  let watched: [String: FileVersion]?

  func run() async throws {
    await cancelWhenGracefulShutdown { await react() }
    // Unless the process ends anyway, nothing is served any more.
    if let failure = service.deployments.failure { throw failure }
  }

  /// Returns when it is cancelled, or when a reload has left nothing to serve.
  private func react() async {
    let triggers = ReloadTriggers()
    await service.deployments.waitUntilListening()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in hangups { triggers.note(isHangup: true) } }
      if let watched {
        group.addTask {
          let watch = FileWatch(pool: service.blockingPool, files: { reloader.files })
          await watch.run(from: watched) { triggers.note(isHangup: false) }
        }
      }
      while let isHangup = await triggers.next(), service.deployments.failure == nil {
        if isHangup { await service.reloadCertificates() }
        await reloader.reload(isAsked: isHangup)
      }
      group.cancelAll()
    }
  }
}

/// What asks for a reload while another one is in progress, as one request.
private final class ReloadTriggers: Sendable {
  /// Whether one of the waiting triggers is a SIGHUP; nil if none waits.
  private let waiting = Mutex<Bool?>(nil)
  private let signal = AsyncSignal()

  func note(isHangup: Bool) {
    waiting.withLock { $0 = isHangup || $0 ?? false }
    signal.notify()
  }

  /// Waits for triggers.
  ///
  /// - Returns: whether a SIGHUP is among them; nil if the task is cancelled.
  func next() async -> Bool? {
    while !Task.isCancelled {
      let seen = signal.count
      if let isHangup = waiting.withLock({ $0.take() }) { return isHangup }
      await signal.wait(after: seen)
    }
    return nil
  }
}
