import Model
import SyncScheduler
import TestSupport
import Testing

/// One device with thousands of mutations and many with a few: every waiting device is served equally
/// often.
struct UnequalQueuesTests {
  private static let large = 5_000
  private static let small = 5
  private static let smallDevices = 200

  /// The devices of all sends, in order.
  private struct Course {
    var sent: [String] = []
    /// How many devices were waiting at each send.
    var waiting: [Int] = []
  }

  /// Responses come in any order, as from a real upstream; a device is scheduled again once its attempt
  /// has ended, as by the worker.
  private func drain(
    concurrencyMax: Int, seed: UInt64, goesOn: Bool = false
  ) -> Course {
    var random = SeededGenerator(seed: seed)
    let now = SendRotationTests.start
    var rotation = SendRotation(concurrencyMax: concurrencyMax)
    var left = ["large": Self.large]
    for number in 0..<Self.smallDevices { left["small\(number)"] = Self.small }
    var course = Course()
    var flying: [SendRotation.Turn] = []
    func note(_ device: String) {
      guard let count = left[device], count > 0 else {
        return rotation.note(QueueSchedule(ready: [], wake: nil), of: device)
      }
      let ready = QueueSchedule.Ready(
        id: MutationID("\(device)-\(count)"), upstream: "films",
        place: Int64(Self.large - count), isForced: false)
      rotation.note(QueueSchedule(ready: [ready], wake: nil), of: device)
    }
    // The large queue is found first after a start: it has every chance to be ahead.
    for device in left.keys.sorted() { note(device) }
    while true {
      while let turn = rotation.next(at: now) {
        course.waiting.append(left.values.count { $0 > 0 })
        course.sent.append(turn.device)
        left[turn.device, default: 0] -= 1
        // While it is in flight the device has nothing to send.
        rotation.note(QueueSchedule(ready: [], wake: nil), of: turn.device)
        flying.append(turn)
      }
      guard !flying.isEmpty else { return course }
      let turn = flying.remove(at: Int.random(in: 0..<flying.count, using: &random))
      if goesOn, rotation.canContinue(turn), left[turn.device, default: 0] > 0 {
        rotation.continueTurn(turn, as: .applied(created: [:]), at: now, policy: QueuePolicy())
        course.waiting.append(left.values.count { $0 > 0 })
        course.sent.append(turn.device)
        left[turn.device, default: 0] -= 1
        flying.append(turn)
      } else {
        rotation.ended(turn, as: .applied(created: [:]), at: now, policy: QueuePolicy())
        note(turn.device)
      }
    }
  }

  /// A fair share is one of as many sends as devices wait. At most twice that many are between two sends
  /// of a device, and before its first.
  @Test(
    "No queue waits for more than twice its share of sends", arguments: [1, 2, 8, 16],
    [false, true])
  func sharesAreFair(concurrencyMax: Int, goesOn: Bool) throws {
    let course = drain(
      concurrencyMax: concurrencyMax, seed: UInt64(concurrencyMax), goesOn: goesOn)
    #expect(course.sent.count == Self.large + Self.smallDevices * Self.small)
    var last: [String: Int] = [:]
    var worst = 0.0
    for (moment, device) in course.sent.enumerated() {
      let begin = last[device].map { $0 + 1 } ?? 0
      let fair = course.waiting[begin...moment].max() ?? 1
      // Those that were in flight when it began to wait have had their turn.
      let others = moment - begin
      worst = max(worst, Double(others) / Double(max(fair, concurrencyMax)))
      last[device] = moment
    }
    #expect(worst <= 2, "one waited for \(worst) times its share")
    // Those with a few are through after as many rounds, not after the one with thousands.
    let end = try #require(course.sent.lastIndex { $0 != "large" })
    #expect(end < 2 * Self.small * (Self.smallDevices + 1))
  }
}
