import LosslessJSON
import Metrics
import Model
import Storage

/// Empties the outbox: several batches concurrently, each a claim on disk, an attempt, and an
/// outcome on disk. Batches lost with the process are recovered at the next start.
final class PushWorker: Sendable {
  /// Maximum batches in flight.
  private static let lanes = 4

  private let store: Store
  private let sender: any PushSender
  private let loop: DeliveryLoop
  private let meters = PushMeters()

  init(store: Store, sender: any PushSender, loop: DeliveryLoop) {
    self.store = store
    self.sender = sender
    self.loop = loop
  }

  private var environment: PushEnvironment { loop.environment }
  private var availability: PushAvailability { loop.availability }

  /// Runs until cancelled. Batches in flight then are recovered at the next start.
  func run() async {
    await loop.retry { () async throws(StorageError) in
      try await store.recoverBatches(at: environment.now, waitMax: DeliveryPolicy.waitMax)
    }
    await withTaskGroup { group in
      for _ in 0..<Self.lanes {
        group.addTask {
          await self.loop.run { () async throws(StorageError) in try await self.sendBatch() }
        }
      }
    }
  }

  private func sendBatch() async throws(StorageError) -> DeliveryLoop.Round {
    if case .waits(let wait) = availability.admit() { return .unavailable(wait) }
    guard let batch = try await store.claimBatch(at: environment.now, boot: environment.boot)
    else {
      availability.releaseProbe()
      return .idle(until: try await store.nextBatchDue())
    }
    await attempt(batch)
    return .worked
  }

  private func attempt(_ batch: ClaimedBatch) async {
    guard environment.now < batch.expires else {
      availability.releaseProbe()
      return await settle(batch, as: .failed(reason: DeliveryPolicy.expiredReason))
    }
    let isWell = availability.hasSucceeded(within: DeliveryPolicy.successAge)
    let result = await deliver(batch)
    // Cancelled because the service stops: the batch is sent again under its key.
    if Task.isCancelled, case .failure = result { return }
    meters.note(result)
    switch result {
    case .success(let receipt):
      availability.recordSuccess()
      await settle(
        batch,
        as: receipt.reachedNoDevice
          ? .invalid : .sent(remoteID: receipt.remoteID, invalidIDs: receipt.invalidIDs))
    case .failure(let fault):
      let consequence = DeliveryPolicy.consequence(
        of: fault, attempts: batch.attempts, chance: environment.chance())
      // Recorded first, so that no other loop claims the batch while the sender counts as
      // available.
      availability.recordFailure(fault, consequence)
      await settle(
        batch,
        as: DeliveryPolicy.end(
          of: batch, after: consequence, isStrike: isWell, at: environment.now))
    }
  }

  private func deliver(_ batch: ClaimedBatch) async -> Result<PushReceipt, PushFault> {
    guard let json = try? JSONValue(checked: batch.message),
      let message = PushMessage(json: json),
      let userIDs = try? JSONValue(checked: batch.userIDs).array?.compactMap(\.string)
    else { return .failure(.permanent(reason: "the stored notification cannot be read")) }
    do throws(PushFault) {
      return .success(
        try await sender.send(PushBatch(key: batch.key, message: message, userIDs: userIDs)))
    } catch {
      return .failure(error)
    }
  }

  /// Stores the outcome, retrying while the disk is full: the batch remains in flight until its
  /// outcome is stored.
  private func settle(_ batch: ClaimedBatch, as end: BatchEnd) async {
    while true {
      do throws(StorageError) {
        _ = try await store.settle(
          batch, boot: environment.boot, as: end, at: environment.now)
        return
      } catch {
        if error == .closed || Task.isCancelled { return }
        await loop.pause(error)
      }
    }
  }
}

/// Counts the outcomes of delivery attempts.
struct PushMeters: Sendable {
  private let sent = Self.counter("sent")
  private let notSent = Self.counter("not_sent")
  private let credentialsRefused = Self.counter("credentials_refused")
  private let transient = Self.counter("transient")
  private let permanent = Self.counter("permanent")
  private let unknown = Self.counter("unknown")

  private static func counter(_ outcome: String) -> Counter {
    Counter(label: "larder.push.attempts", dimensions: [("outcome", outcome)])
  }

  func note(_ result: Result<PushReceipt, PushFault>) {
    switch result {
    case .success: sent.increment()
    case .failure(.notSent): notSent.increment()
    case .failure(.credentialsRefused): credentialsRefused.increment()
    case .failure(.transient): transient.increment()
    case .failure(.permanent): permanent.increment()
    case .failure(.unknown): unknown.increment()
    }
  }
}
