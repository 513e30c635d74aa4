import Model
import SyncScheduler

/// A rotation that tests step in the middle of expectations.
final class RotationBench {
  private var rotation: SendRotation
  private let policy = QueuePolicy()

  init(concurrencyMax: Int) {
    rotation = SendRotation(concurrencyMax: concurrencyMax)
  }

  var wake: Timestamp? { rotation.wake }

  func note(
    _ device: String, place: Int64, isForced: Bool = false, upstream: String = "films"
  ) {
    let ready = QueueSchedule.Ready(
      id: MutationID(device), upstream: upstream, place: place, isForced: isForced)
    rotation.note(QueueSchedule(ready: [ready], wake: nil), of: device)
  }

  func noteWaiting(_ device: String, until wake: Timestamp?) {
    rotation.note(QueueSchedule(ready: [], wake: wake), of: device)
  }

  func succeeded(_ upstream: String = "films", at now: Timestamp) -> Bool {
    rotation.succeeded(upstream, at: now)
  }

  func lastSucceeded(_ upstream: String = "films") -> Timestamp? {
    rotation.lastSucceeded(upstream)
  }

  func next(at now: Timestamp) -> SendRotation.Turn? { rotation.next(at: now) }

  func woken(at now: Timestamp, max: Int = 64) -> [String] { rotation.woken(at: now, max: max) }

  func ended(_ turn: SendRotation.Turn, as outcome: SendOutcome, at now: Timestamp) {
    rotation.ended(turn, as: outcome, at: now, policy: policy)
  }
}
