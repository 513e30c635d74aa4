import Logging
import Model
import Storage
import SyncScheduler
import Upstream

/// The recovery of the queues that the last process left, and the check of their mutations against the
/// current operations.
struct QueueRecovery: Sendable {
  /// The number of devices recovered together, so that they share commits; sending waits for no more
  /// than one such group.
  private static let atATime = 16

  let store: Store
  let registry: OperationRegistry
  let environment: QueueEnvironment
  let logger: Logger
  /// Called with the schedule of each recovered queue.
  let recovered: @Sendable (_ schedule: QueueSchedule, _ device: String) -> Void
  /// Called with each device whose queue waits for a credential, and what it waits for.
  let refused: @Sendable (_ device: String, _ control: QueueControl) -> Void

  /// Recovers all queues. A store that fails is tried again until the task is cancelled.
  func run() async {
    var last = ""
    // The first device sends while the others are still being read.
    var count = 1
    var survey = OperationSurvey()
    while !Task.isCancelled {
      do throws(StorageError) {
        let devices = try await store.queueDevices(after: last, limit: count)
        guard let end = devices.last else { return survey.report(to: logger) }
        survey.add(try await recover(devices))
        last = end
        count = min(count * 2, Self.atATime)
      } catch {
        do { try await environment.pause(after: error, logger) } catch { return }
      }
    }
  }

  /// Recovers devices together, so that they share commits.
  private func recover(_ devices: [String]) async throws(StorageError) -> OperationSurvey {
    let outcomes = await withTaskGroup(of: Result<OperationSurvey, StorageError>.self) { group in
      for device in devices {
        group.addTask {
          do throws(StorageError) {
            return .success(try await recover(device))
          } catch {
            return .failure(error)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var all = OperationSurvey()
    for outcome in outcomes { all.add(try outcome.get()) }
    return all
  }

  private func recover(_ device: String) async throws(StorageError) -> OperationSurvey {
    do throws(StorageError) {
      let survey = try await survey(device)
      let commit = try await store.recover(
        device, review: survey.review, timing: environment.timing)
      if commit.needsCredential { refused(device, commit.control) }
      recovered(commit.outlook, device)
      return survey
    } catch {
      guard error.isDamage else { throw error }
      // One device's damaged rows do not stop the others.
      let wake = environment.now.advanced(by: QueueEnvironment.damagePause)
      recovered(QueueSchedule(ready: [], wake: wake), device)
      return OperationSurvey()
    }
  }

  /// Compares a device's queue with the current operations.
  private func survey(_ device: String) async throws(StorageError) -> OperationSurvey {
    let fit = OperationFit(registry: registry)
    var survey = OperationSurvey()
    survey.review.upstreams = fit.upstreams
    for held in try await store.heldPayloads(of: device) {
      var known: [TemporaryID: EntityKey] = [:]
      if held.variables.utf8.contains(UInt8(ascii: "~")) {
        let mentioned = TemporaryID.mentioned(
          in: OperationFit.substituting([:], in: held.variables))
        known = try await store.resolve(Array(mentioned), of: device)
      }
      survey.note(held, fit: fit, known: known)
    }
    return survey
  }
}
