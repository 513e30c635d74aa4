import Logging
import LosslessJSON
import Model
import Push
import Storage
import Synchronization

/// Empties the outbox by itself: several batches at a time, each a claim on disk, an attempt, and an
/// end on disk. Whatever is lost with the process is found again at the next start.
///
/// Nothing is polled: loops wait for the bell, or for the time of what waits.
final class PushWorker: Sendable {
  /// Batches on their way at once.
  private static let lanes = 4
  /// Until a store that could not be read or written is tried again.
  private static let storePause = Duration.seconds(1)

  private let store: Store
  private let sender: any PushSender
  private let surroundings: PushEnvironment
  private let bell: AsyncSignal
  private let line: PushAvailability
  private let logger: Logger
  private let meters = PushMeters()

  init(
    store: Store, sender: any PushSender, surroundings: PushEnvironment, bell: AsyncSignal,
    line: PushAvailability, logger: Logger
  ) {
    self.store = store
    self.sender = sender
    self.surroundings = surroundings
    self.bell = bell
    self.line = line
    self.logger = logger
  }

  /// Runs until it is cancelled. What is under way then is found in flight at the next start.
  func run() async {
    await recover()
    await withTaskGroup { group in
      for _ in 0..<Self.lanes { group.addTask { await self.sendBatches() } }
    }
  }

  private func recover() async {
    while !Task.isCancelled {
      do throws(StorageError) {
        return try await store.recoverBatches(
          at: surroundings.now, waitMax: DeliveryPolicy.waitMax)
      } catch {
        await pause(error)
      }
    }
  }

  private func sendBatches() async {
    while !Task.isCancelled {
      let rings = bell.rings
      if case .waits(let wait) = line.admit() {
        await bell.wait(past: rings, atMost: wait)
        continue
      }
      do throws(StorageError) {
        guard
          let batch = try await store.claimBatch(at: surroundings.now, boot: surroundings.boot)
        else {
          line.unused()
          let due = try await store.nextBatchDue()
          await bell.wait(
            past: rings,
            atMost: due.map { max(.milliseconds(1), surroundings.now.elapsed(until: $0)) })
          continue
        }
        await attempt(batch)
      } catch {
        line.unused()
        await pause(error)
      }
    }
  }

  private func attempt(_ batch: ClaimedBatch) async {
    guard surroundings.now < batch.expires else {
      line.unused()
      return await settle(batch, as: .failed(reason: DeliveryPolicy.expiredReason))
    }
    let isWell = line.hasSucceeded(within: DeliveryPolicy.successAge)
    let result = await deliver(batch)
    // Cut off by the end of the service: it goes again under its key.
    if Task.isCancelled, case .failure = result { return }
    meters.note(result)
    switch result {
    case .success(let receipt):
      line.answered()
      await settle(
        batch,
        as: receipt.reachedNobody
          ? .invalid : .sent(remoteID: receipt.remoteID, invalidIDs: receipt.invalidIDs))
    case .failure(let fault):
      let consequence = DeliveryPolicy.consequence(
        of: fault, attempts: batch.attempts, chance: surroundings.chance())
      // First, so that no lane finds the batch while the sender is thought to be well.
      line.answered(fault, consequence)
      await settle(
        batch,
        as: DeliveryPolicy.end(
          of: batch, after: consequence, isStrike: isWell, at: surroundings.now))
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

  /// What the sender did must not be forgotten because the disk is full for a while: the batch
  /// stays in flight until its end is written.
  private func settle(_ batch: ClaimedBatch, as end: BatchEnd) async {
    while true {
      do throws(StorageError) {
        _ = try await store.settle(
          batch, boot: surroundings.boot, as: end, at: surroundings.now)
        return
      } catch {
        if error == .closed || Task.isCancelled { return }
        await pause(error)
      }
    }
  }

  private func pause(_ error: StorageError) async {
    if error != .closed {
      logger.error("the outbox could not be read or written", metadata: ["cause": "\(error)"])
    }
    try? await surroundings.sleep(Self.storePause)
  }
}
