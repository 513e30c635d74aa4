import Model
import Storage
import Synchronization

/// Writes messages of webhooks in the order in which they arrive, many in one transaction.
///
/// While one transaction is written, others wait; so many messages at once cost few commits, and
/// the memory that they take is bounded. Their calls are taken when they are written, so that none
/// of them keeps the others from being stored without marks.
final class DeliveryBatcher: Sendable {
  /// Limit of messages in one transaction.
  static let batchMax = 256
  /// Limits of messages that wait: those beyond are refused, and their senders retry.
  static let waitingMax = 4_096
  static let waitingBytesMax = 32 << 20

  private struct Item {
    let delivery: HookDelivery
    let continuation: CheckedContinuation<Result<HookReceipt, Failure>, Never>
  }

  private struct State {
    var waiting: [Item] = []
    var bytes = 0
    var isWriting = false
  }

  private enum Step {
    case refuse
    case wait
    case begin
  }

  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let clock: WallClock
  private let state = Mutex(State())

  init(store: Store, calls: CallSequence, epoch: MutationEpoch, clock: WallClock) {
    self.store = store
    self.calls = calls
    self.epoch = epoch
    self.clock = clock
  }

  /// Stores a message and returns once it is durable.
  func submit(_ delivery: HookDelivery) async throws(Failure) -> HookReceipt {
    let result = await withCheckedContinuation { continuation in
      let item = Item(delivery: delivery, continuation: continuation)
      switch state.withLock({ Self.add(item, to: &$0) }) {
      case .refuse:
        continuation.resume(
          returning: .failure(
            Failure(
              .overloaded,
              "\(Self.waitingMax) webhook messages are waiting to be stored; send this one again "
                + "later.", retry: .after, retryAfter: .seconds(1))))
      case .wait: break
      case .begin: Task { await write() }
      }
    }
    return try result.get()
  }

  private static func add(_ item: Item, to state: inout State) -> Step {
    let bytes = state.bytes + item.delivery.byteCount
    guard state.waiting.count < waitingMax, bytes <= waitingBytesMax || state.waiting.isEmpty
    else { return .refuse }
    state.waiting.append(item)
    state.bytes = bytes
    guard !state.isWriting else { return .wait }
    state.isWriting = true
    return .begin
  }

  private func write() async {
    while let batch = takeBatch() {
      let run = calls.beginRun(of: batch.count)
      defer { calls.end(run) }
      do throws(StorageError) {
        let receipts = try await store.receive(
          batch.enumerated().map { ($1.delivery, run[$0].call, run[$0].horizon) },
          now: clock.now())
        // A reader that arrives from here on joins no call that began before the change.
        if zip(receipts, batch).contains(where: { Self.makesDue($0, $1.delivery) }) {
          epoch.advance()
        }
        for (item, receipt) in zip(batch, receipts) {
          item.continuation.resume(returning: .success(receipt))
        }
      } catch {
        let failure = Failure(
          .storageUnavailable, "The message cannot be stored; send it again later.",
          retry: .after, retryAfter: .seconds(5), cause: "\(error)")
        for item in batch { item.continuation.resume(returning: .failure(failure)) }
      }
    }
  }

  private func takeBatch() -> [Item]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isWriting = false
        return nil
      }
      let batch = Array(state.waiting.prefix(Self.batchMax))
      state.waiting.removeFirst(batch.count)
      state.bytes -= batch.reduce(0) { $0 + $1.delivery.byteCount }
      return batch
    }
  }

  /// Whether something must be fetched again, rather than being stored with its new values.
  private static func makesDue(_ receipt: HookReceipt, _ delivery: HookDelivery) -> Bool {
    !receipt.isRepeated
      && (receipt.disputed > 0 || receipt.deleted > 0 || !delivery.invalidations.isEmpty)
  }
}
