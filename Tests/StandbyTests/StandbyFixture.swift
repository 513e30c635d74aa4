import Model
import Synchronization
import TestSupport
import Transport

@testable import Standby

/// A clock that a test moves.
final class ManualUptime: Sendable {
  private let time = Mutex(Duration.seconds(100))

  var now: Duration { time.withLock { $0 } }

  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

enum StandbyFixture {
  static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
  static let seal = ObjectSeal(secret: secret)
  static let wall = WallClock { Timestamp(milliseconds: 1_000) }

  static func store(_ objects: any SharedObjects) -> StandbyStore {
    StandbyStore(objects, seal: seal)
  }

  static func taking(
    _ store: StandbyStore, _ node: String, lease: Duration = .seconds(15)
  ) -> LeaseTaking {
    LeaseTaking(
      store, .init(node: node, host: "host-\(node)", version: "1"), duration: lease, wall: wall)
  }

  /// Takes the lease for a node, and ends the log of the former one.
  static func lead(_ store: StandbyStore, _ node: String) async throws -> (
    VersionedLease, LogSegment
  )? {
    let taking = taking(store, node)
    let seen = try await store.lease()
    guard let lease = try await taking.take(after: seen, history: "h") else { return nil }
    let last = try await LogSearch(store).last(after: 0)
    return (lease, try await taking.fence(lease.lease, after: last, floor: 0))
  }

  /// The positions and payloads of the whole log, as a follower reads it.
  static func log(_ store: StandbyStore) async throws -> [(
    position: Int64, epoch: Int64, payload: [UInt8]
  )] {
    var rows: [(position: Int64, epoch: Int64, payload: [UInt8])] = []
    var number: Int64 = 1
    while let segment = try await store.segment(number) {
      for (position, commit) in segment.commits(after: rows.last?.position ?? 0) {
        rows.append((position, segment.epoch, commit.payload))
      }
      number += 1
    }
    return rows
  }
}

/// A sender with a clock of its own, which runs until the test ends it.
final class RunningSender: Sendable {
  let uptime = ManualUptime()
  let sender: LogSender
  private let task: Task<Void, Never>

  init(
    _ store: StandbyStore, _ lease: VersionedLease, after last: LogSegment,
    settings change: (inout LogSender.Settings) -> Void = { _ in }
  ) {
    var settings = LogSender.Settings()
    settings.interval = .milliseconds(1)
    settings.pause = .milliseconds(1)
    change(&settings)
    let flag = FencedFlag()
    let uptime = uptime
    sender = LogSender(
      store, lease: lease, kept: uptime.now, nextSegment: last.number + 1,
      notBefore: Timestamp(milliseconds: 0), settings: settings, wall: StandbyFixture.wall,
      uptime: { uptime.now }, whenFenced: { flag.set() })
    let running = sender
    task = Task { await running.run() }
    self.flag = flag
  }

  private let flag: FencedFlag

  var isFenced: Bool { flag.isSet }

  func stop() async {
    task.cancel()
    await task.value
  }
}

final class FencedFlag: Sendable {
  private let value = Atomic(false)

  func set() { value.store(true, ordering: .releasing) }

  var isSet: Bool { value.load(ordering: .acquiring) }
}
