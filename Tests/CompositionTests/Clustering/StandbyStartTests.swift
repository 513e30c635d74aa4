import Foundation
import Gateway
import Model
import Standby
import Storage
import TestSupport
import Testing

@testable import Composition

/// How machines with a standby take over from each other.
@Suite(.serialized) struct StandbyStartTests {
  private let machines: StandbyFixture

  init() throws { machines = try StandbyFixture() }

  private func database(_ machine: String) throws -> String {
    "\(try machines.data(machine))/\(DatabaseRestore.databaseName)"
  }

  private func expectEqual(_ first: String, _ second: String, seed: UInt64 = 0) throws {
    let (ours, theirs) = try (
      StandbyFixture.contents(database(first)), StandbyFixture.contents(database(second))
    )
    #expect(ours.count > 10 && Set(ours.keys) == Set(theirs.keys))
    for (table, rows) in ours { #expect(theirs[table] == rows, "\(table), seed \(seed)") }
  }

  @Test(
    "A standby that has followed holds the same tables, whatever was written",
    arguments: 1...6 as ClosedRange<UInt64>)
  func standbysAreEqual(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let primary = try await machines.lead("a")
    try await primary.node.makeSnapshotIfDue()
    var known: Set<String> = []
    var call: Int64 = 0
    for _ in 0..<4 {
      for _ in 0..<Int.random(in: 1...20, using: &generator) {
        let id = "d\(Int.random(in: 0...9, using: &generator))"
        switch Int.random(in: 0...3, using: &generator) {
        case 0 where !known.contains(id):
          try await primary.register(id)
          known.insert(id)
        case 1 where known.contains(id):
          _ = try await primary.store.remove(device: id)
          known.remove(id)
        default:
          call += 1
          _ = try await primary.store.purge(
            [.entity(EntityKey(type: "Film", key: "\(call % 5)"))], in: nil,
            call: CallNumber(call), horizon: CallNumber(call))
          try await primary.store.setMarker(StoreMarker(folder: id, keyDigest: "k\(call)"))
        }
      }
      // What the marker says of keys is not that of this folder.
      try await primary.store.setMarker(
        StoreMarker(
          folder: "f",
          keyDigest: KeyRing(root: StandbyAssembly.rootBytes(try machines.settings("a").standby))
            .digest))
      #expect(await primary.send())
      try await machines.follow("b", to: primary.store.position)
    }
    await primary.end()
    try await machines.follow(
      "b", to: try #require(try Store.clusterPosition(folder: machines.data("a"))).position)
    try expectEqual("a", "b", seed: seed)
  }

  @Test("A machine that ends gives the lease to the standby at once, with all commits")
  func handsOver() async throws {
    let first = try await machines.lead("a")
    try await first.node.makeSnapshotIfDue()
    try await first.register("phone")
    let standby = try machines.start("b", isStandby: true)
    let following = Task { try await standby.run() }
    await first.end()
    let second = try await StandbyFixture.Primary(
      following.value, folder: machines.data("b"))
    #expect(second.node.sender.lease.epoch == 2)
    #expect(try await second.store.device(id: "phone") != nil)
    try await second.register("tablet")
    #expect(await second.send())
    // The former primary follows, without a snapshot.
    try await machines.follow("a", to: second.store.position)
    await second.end()
    try expectEqual("a", "b")
  }

  @Test("A standby takes over from a machine that is gone, with all that was sent")
  func takesOver() async throws {
    let first = try await machines.lead("a")
    try await first.node.makeSnapshotIfDue()
    try await first.register("phone")
    #expect(await first.send())
    let standby = try machines.start("b", isStandby: true)
    let following = Task { try await standby.run() }
    await first.kill()
    let second = try await StandbyFixture.Primary(following.value, folder: machines.data("b"))
    #expect(try await second.store.device(id: "phone") != nil)
    #expect(second.node.sender.lease.holder == "b")
    await second.end()
  }

  @Test("A machine that was paused writes nothing more, and keeps aside what only it has")
  func pausedPrimary() async throws {
    let first = try await machines.lead("a")
    try await first.node.makeSnapshotIfDue()
    try await first.register("phone")
    #expect(await first.send())
    await first.pause()
    try await first.register("lost")
    let lost = first.store.position
    let second = try await machines.lead("b", isStandby: true)
    // Its own clock says so, without the store.
    await #expect(throws: StorageError.self) { try await first.register("late") }
    #expect(first.node.sender.hasLeaseEnded)
    let again = Task { await first.node.sender.run() }
    #expect(await eventuallyHolds { first.node.isLost })
    await again.value
    await #expect(throws: StorageError.self) { try await first.register("later") }
    first.store.close()
    try await second.register("tablet")
    try await second.node.makeSnapshotIfDue()
    #expect(await second.send())
    try await machines.follow("a", to: second.store.position)
    #expect(
      FileManager.default.fileExists(
        atPath: "\(try machines.data("a"))/larder.ahead-\(lost).sqlite"))
    #expect(try await second.store.device(id: "lost") == nil)
    await second.end()
    try expectEqual("a", "b")
  }

  @Test(
    "A machine that crashes before it has sent its commits goes on with them, and the standby starts again"
  )
  func crashedPrimary() async throws {
    let first = try await machines.lead("a")
    try await first.node.makeSnapshotIfDue()
    #expect(await first.send())
    try await machines.follow("b", to: first.store.position)
    await first.pause()
    try await first.register("phone")
    await first.kill()
    let again = try await machines.lead("a")
    #expect(again.node.sender.lease.epoch == 2)
    #expect(try await again.store.device(id: "phone") != nil)
    #expect(again.store.resetPosition == again.store.position)
    try await again.node.makeSnapshotIfDue()
    try await machines.follow("b", to: again.store.position)
    await again.end()
    try expectEqual("a", "b")
  }

  @Test("A machine that cannot use the lease that it took leaves its own commits usable")
  func interruptedTake() async throws {
    let first = try await machines.lead("a")
    try await first.node.makeSnapshotIfDue()
    await first.pause()
    try await first.register("phone")
    await first.kill()
    // Another one takes the lease, and cannot lead.
    let store = try machines.store()
    let seen = try #require(try await store.lease())
    let taking = LeaseTaking(
      store, .init(node: "c", host: "c", version: "1"), duration: .seconds(1),
      wall: SystemClock.wall)
    let taken = try #require(try await taking.take(after: seen, history: "x"))
    var released = taken.lease
    released.isReleased = true
    _ = try await store.replace(released, after: taken.version)
    let again = try await machines.lead("a")
    #expect(try await again.store.device(id: "phone") != nil)
    await again.end()
  }

  @Test("A machine with the data of a single one begins the history, and no other may")
  func singleMachine() async throws {
    for machine in ["a", "b"] {
      let store = try Store.open(
        StoreConfiguration(
          folder: machines.data(machine), segment: 1, opened: Timestamp(milliseconds: 0)),
        types: [])
      try await store.register(
        Device(
          id: machine, platform: "ios", name: machine, registered: Timestamp(milliseconds: 1),
          lastUsed: Timestamp(milliseconds: 1)), tokenDigest: "digest")
      store.close()
    }
    let primary = try await machines.lead("a")
    #expect(try await primary.store.device(id: "a") != nil)
    try await primary.node.makeSnapshotIfDue()
    await #expect(throws: StartFailure.self) {
      _ = try await machines.start("b", isStandby: true).run()
    }
    try await machines.follow("c", to: primary.store.position)
    await primary.end()
    try expectEqual("a", "c")
  }

  @Test("A database does not begin a history in a place where there is none")
  func emptyPlace() async throws {
    let primary = try await machines.lead("a")
    await primary.end()
    let settings = try machines.settings("a")
    try FileManager.default.removeItem(atPath: try #require(settings.standby.folder) + "/larder")
    await #expect(throws: StartFailure.self) { _ = try await machines.start("a").run() }
    #expect(try StandbyCommands(settings).leave().contains("single machine"))
    let again = try await machines.lead("a")
    #expect(again.node.sender.lease.epoch == 1)
    await again.end()
  }

  @Test("A copy of a machine's folder on another machine does not take its lease")
  func copiedFolder() async throws {
    let primary = try await machines.lead("a")
    try await primary.node.makeSnapshotIfDue()
    let state = StandbyState()
    let copy = try machines.start("b", node: "a", state: state)
    let following = Task { try await copy.run() }
    #expect(await eventuallyHolds { state.present.phase == "following" })
    // It reads the lease again and again.
    for number in 0..<5 {
      try await primary.register("d\(number)")
      let position = primary.store.position
      #expect(await eventuallyHolds { state.present.position == position })
    }
    #expect(try await machines.store().lease()?.lease.epoch == 1 && !primary.node.isLost)
    following.cancel()
    _ = await following.result
    await primary.end()
  }

  @Test("A machine with another key than the primary's says so before it has to take over")
  func otherKey() async throws {
    let primary = try await machines.lead("a")
    try await primary.store.setMarker(StoreMarker(folder: "f", keyDigest: "another"))
    try await primary.node.makeSnapshotIfDue()
    await #expect(throws: StartFailure.self) {
      _ = try await machines.start("b", isStandby: true).run()
    }
    await primary.end()
  }

  // MARK: Restoring

  @Test("Each moment of a history is restored as it was")
  func restoring() async throws {
    let primary = try await machines.lead("a")
    try await primary.node.makeSnapshotIfDue()
    var states: [(at: Timestamp, position: Int64, copy: String)] = []
    for number in 0..<8 {
      // Each commit in a millisecond of its own.
      let former = primary.node.sender.now
      #expect(await eventuallyHolds { primary.node.sender.now > former })
      try await primary.register("d\(number)")
      let copy = "\(machines.folder.path)/copy-\(number)"
      let position = try await primary.store.writeSnapshot(to: copy)
      states.append((primary.node.sender.now, position, copy))
      #expect(await eventuallyHolds { primary.node.sender.now > states[number].at })
      if number == 4 { try await makeAnotherSnapshot(primary) }
    }
    await primary.end()
    for (number, state) in states.enumerated() {
      var settings = try machines.settings("r\(number)")
      settings.files.isOn = false
      let report = try await RestoreAtCommand(
        settings, at: state.at.iso8601, replaces: false, environment: [:]
      ).run()
      #expect(report.contains("position \(state.position),"), "\(report)")
      let restored = try StandbyFixture.contents(database("r\(number)"), withPlace: false)
      #expect(restored == (try StandbyFixture.contents(state.copy, withPlace: false)))
      #expect(try Store.clusterPosition(folder: settings.dataFolder) == nil)
      // It replaces nothing.
      await #expect(throws: StartFailure.self) {
        try await RestoreAtCommand(
          settings, at: state.at.iso8601, replaces: false, environment: [:]
        ).run()
      }
    }
    let settings = try machines.settings("early")
    await #expect(throws: StartFailure.self) {
      try await RestoreAtCommand(
        settings, at: "2001-01-01T00:00:00Z", replaces: false, environment: [:]
      ).run()
    }
    #expect(throws: StartFailure.self) {
      try RestoreAtCommand(settings, at: "yesterday", replaces: false)
    }
  }

  /// Stores a snapshot although the latest one is not old.
  private func makeAnotherSnapshot(_ primary: StandbyFixture.Primary) async throws {
    let store = try machines.store()
    let file = "\(machines.folder.path)/snapshot"
    let segment = primary.node.sender.lastSegment
    let position = try await primary.store.writeSnapshot(to: file)
    #expect(await primary.send())
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    var isRead = false
    let draft = SnapshotTransfer.Draft(
      position: position, at: primary.node.sender.now, epoch: primary.node.sender.lease.epoch,
      segment: segment, made: primary.node.sender.now, version: Version.text)
    let entry = try await SnapshotTransfer(store).put(draft) { _ throws(StandbyError) in
      defer { isRead = true }
      return isRead ? [] : Array(bytes)
    }
    #expect(entry != nil)
  }
}
