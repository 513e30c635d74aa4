import Logging
import Model
import Storage
import SyncScheduler

/// The leader's loop that moves submissions from the inbox to the queues, in order of their numbers.
///
/// An entry is removed after the commit that enqueues its mutations. A leader that ends in between leaves it to
/// the next one, which recognises the mutations by their keys.
package struct InboxDrainer: Sendable {
  /// The maximum number of entries in one commit.
  private static let batchMax = 256
  /// The pause before a failed step is repeated.
  static let pause = Duration.seconds(1)
  /// How long the loop waits for the inbox's doorbell before it looks.
  private static let waitMax = Duration.seconds(1)

  let inbox: any MutationInbox
  let store: Store
  let environment: QueueEnvironment
  let logger: Logger
  /// Called with what each queue can send after a commit.
  let drained: @Sendable (_ schedule: QueueSchedule, _ device: String) -> Void
  /// Called with each device whose queue waits for a credential.
  let refused: @Sendable (_ device: String, _ control: QueueControl) -> Void

  private enum Step {
    /// Up to the entry with this number.
    case moved(Int64)
    case empty
    /// The store takes no more writes of this node.
    case ended
    case failed
    /// What is left waits for an operator.
    case stuck
  }

  /// Moves everything that is in the inbox. A leader serves its first request after that, so that a device finds
  /// its submissions in the queue.
  ///
  /// - Returns: false if the store takes no writes, or the task was cancelled.
  package func drainAll() async -> Bool {
    while !Task.isCancelled {
      switch await step() {
      case .moved: continue
      case .empty, .stuck: return true
      case .ended: return false
      case .failed: do { try await environment.sleep(Self.pause) } catch { return false }
      }
    }
    return false
  }

  /// Moves entries as they come, until the task is cancelled or this node leads no more.
  package func run() async {
    var last: Int64 = 0
    while !Task.isCancelled {
      switch await step() {
      case .moved(let number): last = number
      case .empty: await inbox.wait(after: last, atMost: Self.waitMax)
      case .ended: return
      case .failed, .stuck: do { try await environment.sleep(Self.pause) } catch { return }
      }
    }
  }

  private func step() async -> Step {
    let rows: [InboxRow]
    do throws(InboxOutage) {
      // From the beginning: what is moved is removed, and what a former leader left must be.
      rows = try await inbox.entries(after: 0, limit: Self.batchMax)
    } catch {
      logger.warning("the inbox could not be read", metadata: ["cause": "\(error.cause)"])
      return .failed
    }
    guard let first = rows.first else { return .empty }
    let submissions = decodable(rows)
    guard !submissions.isEmpty else {
      logger.error(
        """
        an entry of the inbox cannot be decoded, and all later ones wait for it: let a node with the \
        newest version lead
        """, metadata: ["number": "\(first.number)"])
      return .stuck
    }
    let moved: [Int64]
    switch await move(submissions) {
    case .success(let numbers): moved = numbers
    case .failure(let error):
      switch error {
      case .closed, .moved, .notLeader, .logInDoubt: return .ended
      default:
        logger.error("the inbox could not be emptied", metadata: ["cause": "\(error)"])
        return .failed
      }
    }
    guard let last = moved.last else { return .stuck }
    do throws(InboxOutage) {
      try await inbox.remove(moved)
    } catch {
      logger.warning("entries stay in the inbox for now", metadata: ["cause": "\(error.cause)"])
      return .failed
    }
    return .moved(last)
  }

  /// Decodes entries up to the first that a newer version wrote: later ones must not overtake it.
  private func decodable(_ rows: [InboxRow]) -> [InboxSubmission] {
    var submissions: [InboxSubmission] = []
    for row in rows {
      guard let submission = InboxSubmission(row) else { return submissions }
      submissions.append(submission)
    }
    return submissions
  }

  /// Enqueues submissions, one by one if a device's queue is damaged: it does not stop the others.
  ///
  /// - Returns: the numbers of those that the store has.
  private func move(_ submissions: [InboxSubmission]) async -> Result<[Int64], StorageError> {
    do throws(StorageError) {
      try await drain(submissions)
      return .success(submissions.map(\.number))
    } catch {
      guard error.isCorrupt else { return .failure(error) }
    }
    var moved: [Int64] = []
    for submission in submissions {
      do throws(StorageError) {
        try await drain([submission])
        moved.append(submission.number)
      } catch {
        guard error.isCorrupt else { return .failure(error) }
        logger.error(
          "a submission stays in the inbox: its device's queue is damaged; restore a backup",
          metadata: ["number": "\(submission.number)", "cause": "\(error)"])
      }
    }
    return .success(moved)
  }

  private func drain(_ submissions: [InboxSubmission]) async throws(StorageError) {
    let drain = try await store.drain(submissions, timing: environment.timing)
    for (device, control) in drain.refused { refused(device, control) }
    for (device, schedule) in drain.schedules { drained(schedule, device) }
  }
}

extension StorageError {
  fileprivate var isCorrupt: Bool { if case .corrupt = self { true } else { false } }
}
