import Cluster
import ClusterDouble
import Cryptography
import Foundation
import Model
import Synchronization
import TestSupport
import Testing
import Transport

/// What every ``ClusterBackend`` guarantees.
struct ClusterContractTests {
  private static let kinds = BackendKind.available
  private static let long = Duration.seconds(600)

  // MARK: Preparing

  @Test("Nodes that prepare at the same moment find one cluster", arguments: kinds)
  func preparingRaces(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let nodes = try (0..<6).map { _ in try cluster.unprepared() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for node in nodes { group.addTask { try await node.prepare() } }
      try await group.waitForAll()
    }
    for node in nodes {
      #expect(try await node.head() == LogHead(position: 0, floor: 0, epoch: 0))
      #expect(try await node.lease() == nil)
      #expect(try await node.latestSnapshot() == nil)
      #expect(try await node.nodes().isEmpty)
    }
    let lease = try #require(try await nodes[0].take(.test("a"), for: Self.long))
    try nodes[0].appender(of: lease).append([1], at: 1)
    try await nodes[1].prepare()
    #expect(try await nodes[2].head().position == 1)
  }

  // MARK: Lease

  @Test("Of nodes that take the lease at the same moment one gets it", arguments: kinds)
  func takingRaces(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    var nodes: [any ClusterBackend] = []
    for _ in 0..<3 { nodes.append(try await cluster.node()) }
    for round in 1...10 {
      let leases = try await withThrowingTaskGroup(of: Lease?.self) { group in
        for (index, node) in nodes.enumerated() {
          group.addTask { try await node.take(.test("n\(index)"), for: Self.long) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }.compactMap(\.self)
      #expect(leases.count == 1)
      let lease = try #require(leases.first)
      #expect(lease.epoch == Int64(round))
      let seen = try #require(try await nodes[0].lease())
      #expect(seen.holder == lease.holder && seen.epoch == lease.epoch)
      #expect(seen.url == "http://\(lease.holder).example:8080")
      #expect(seen.digest == "d")
      #expect(seen.validFor > Self.long - .seconds(60) && seen.validFor <= Self.long)
      try await nodes[1].release(lease, to: nil)
      #expect(try await nodes[2].lease() == nil)
    }
  }

  @Test("An expired lease can be taken, with the next epoch, or renewed", arguments: kinds)
  func leasesExpire(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    let first = try #require(try await a.take(.test("a"), for: .milliseconds(50)))
    #expect(try await eventuallyHolds { try await b.lease() == nil })
    #expect(try await a.renew(first, for: Self.long))
    #expect(try await b.take(.test("b"), for: Self.long) == nil)
    #expect(try await a.renew(first, for: .milliseconds(1)))
    var second: Lease?
    #expect(
      try await eventuallyHolds {
        second = try await b.take(.test("b"), for: Self.long)
        return second != nil
      })
    #expect(second?.epoch == first.epoch + 1)
    #expect(try await a.renew(first, for: Self.long) == false)
    try await a.release(first, to: nil)
    #expect(try await a.lease()?.holder == NodeID("b"))
  }

  @Test("A node that takes its own lease again gets a new epoch", arguments: kinds)
  func takingAgainFencesTheNodesPast(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    let first = try #require(try await node.take(.test("a"), for: Self.long))
    let past = try node.appender(of: first)
    try past.append([1], at: 1)
    let second = try #require(try await node.take(.test("a"), for: Self.long))
    #expect(second.epoch == first.epoch + 1)
    #expect(past.failure([2], at: 2) == .fenced)
    try node.appender(of: second).append([3], at: 2)
  }

  @Test("A released lease goes to its heir, for one lease time", arguments: kinds)
  func releasedLeasesGoToTheHeir(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    let first = try #require(try await node.take(.test("a"), for: Self.long))
    try await node.release(first, to: NodeID("b"))
    #expect(try await node.renew(first, for: Self.long) == false)
    #expect(try await node.take(.test("a"), for: Self.long) == nil)
    #expect(try await node.take(.test("c"), for: Self.long) == nil)
    let second = try #require(try await node.take(.test("b"), for: .milliseconds(50)))
    #expect(second.epoch == first.epoch + 1)
    try await node.release(second, to: NodeID("gone"))
    var third: Lease?
    #expect(
      try await eventuallyHolds {
        third = try await node.take(.test("c"), for: Self.long)
        return third != nil
      })
    #expect(third?.holder == NodeID("c"))
  }

  @Test(
    "The last leader's digest and the heir are known although the lease has ended", arguments: kinds
  )
  func successionIsKnown(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    #expect(try await a.succession() == Succession(digest: "", heir: nil))
    let first = try #require(try await a.take(.test("a"), for: Self.long))
    #expect(try await b.succession() == Succession(digest: "d", heir: nil))
    try await a.release(first, to: NodeID("b"))
    #expect(try await b.lease() == nil)
    #expect(try await b.succession() == Succession(digest: "d", heir: NodeID("b")))
    let second = try #require(try await b.take(.test("b"), for: .milliseconds(50)))
    #expect(try await a.succession() == Succession(digest: "d", heir: nil))
    try await b.release(second, to: NodeID("gone"))
    #expect(try await eventuallyHolds { try await a.succession().heir == nil })
  }

  @Test("The end of a lease wakes the nodes that wait for rows", arguments: kinds)
  func releasesWakeNodes(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    let lease = try #require(try await a.take(.test("a"), for: Self.long))
    let isAwake = Mutex(false)
    let waiting = Task {
      // A listener that begins to listen ends a wait as well.
      while !Task.isCancelled, try await b.lease() != nil {
        await b.waitForRows(after: 0, atMost: Self.long)
      }
      isAwake.withLock { $0 = true }
    }
    try await a.release(lease, to: nil)
    #expect(await eventuallyHolds { isAwake.withLock { $0 } })
    waiting.cancel()
  }

  // MARK: Log

  @Test(
    "A leader whose lease was passed on, has expired or was released cannot append",
    arguments: kinds)
  func pausedLeadersAreFenced(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    let first = try #require(try await a.take(.test("a"), for: .seconds(60)))
    let paused = try a.appender(of: first)
    try paused.append([1], at: 1)
    try await a.release(first, to: nil)
    #expect(paused.failure([2], at: 2) == .fenced)
    let second = try #require(try await b.take(.test("b"), for: Self.long))
    #expect(paused.failure([2], at: 2) == .fenced)
    let current = try b.appender(of: second)
    try current.append([3], at: 2)
    #expect(paused.failure([2], at: 2) == .fenced)
    #expect(paused.failure([2], at: 3) == .fenced)
    #expect(
      try await a.rows(after: 0, bytesMax: 1000) == [
        LogRow(position: 1, epoch: 1, payload: [1]), LogRow(position: 2, epoch: 2, payload: [3]),
      ])
    #expect(try await b.renew(second, for: .milliseconds(1)))
    #expect(try await eventuallyHolds { try await a.lease() == nil })
    #expect(current.failure([4], at: 3) == .fenced)
    #expect(try await b.renew(second, for: Self.long))
    #expect(current.failure([4], at: 3) == nil)
  }

  @Test("Positions have no gaps and are used once", arguments: kinds)
  func positionsHaveNoGaps(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    let lease = try #require(try await node.take(.test("a"), for: Self.long))
    let appender = try node.appender(of: lease)
    for position in [-1, 0, 2, .max] as [Int64] {
      #expect(appender.failure([9], at: position) == .fenced)
    }
    // Over the ends of several partitions.
    for position in 1...40 as ClosedRange<Int64> {
      try appender.append([UInt8(position)], at: position)
      #expect(appender.failure([99], at: position) == .fenced)
      #expect(appender.failure([99], at: position + 2) == .fenced)
    }
    let rows = try await node.rows(after: 0, bytesMax: 1_000_000)
    #expect(rows.map(\.position) == Array(1...40))
    #expect(rows.map(\.payload) == (1...40).map { [UInt8($0)] })
    #expect(try await node.head() == LogHead(position: 40, floor: 0, epoch: 1))
  }

  @Test("Rows are read in portions of a number of bytes, at least one row", arguments: kinds)
  func rowsComeInPortions(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    let lease = try #require(try await node.take(.test("a"), for: Self.long))
    let appender = try node.appender(of: lease)
    for position in 1...10 as ClosedRange<Int64> {
      try appender.append([UInt8](repeating: UInt8(position), count: 100), at: position)
    }
    func positions(_ after: Int64, _ bytesMax: Int) async throws -> [Int64] {
      try await node.rows(after: after, bytesMax: bytesMax).map(\.position)
    }
    #expect(try await positions(0, 0) == [1])
    #expect(try await positions(0, 1) == [1])
    #expect(try await positions(0, 100) == [1])
    #expect(try await positions(0, 101) == [1, 2])
    #expect(try await positions(3, 350) == [4, 5, 6, 7])
    #expect(try await positions(9, 1000) == [10])
    #expect(try await positions(10, 1000) == [])
    #expect(try await positions(99, 1000) == [])
    let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
    try appender.append(large, at: 11)
    try appender.append([], at: 12)
    #expect(try await node.rows(after: 10, bytesMax: 1).map(\.payload) == [large])
    #expect(try await node.rows(after: 11, bytesMax: 1).map(\.payload) == [[]])
  }

  @Test("A trimmed log says from where on it is complete, and keeps its last row", arguments: kinds)
  func trimming(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    let lease = try #require(try await node.take(.test("a"), for: Self.long))
    let appender = try node.appender(of: lease)
    for position in 1...30 as ClosedRange<Int64> { try appender.append([1], at: position) }
    try await node.trim(upTo: 17)
    let head = try await node.head()
    #expect(head.position == 30)
    #expect(head.floor > 0 && head.floor <= 17)
    #expect(
      try await node.rows(after: head.floor, bytesMax: 1000).map(\.position)
        == Array(head.floor + 1...30))
    let removed = await failure { () throws(ClusterError) in
      try await node.rows(after: head.floor - 1, bytesMax: 1000)
    }
    #expect(removed?.faultText?.contains("start from a snapshot") == true)
    try await node.trim(upTo: 5)
    #expect(try await node.head() == head)
    try await node.trim(upTo: 1_000_000)
    #expect(try await node.head().position == 30)
    try appender.append([2], at: 31)
    #expect(try await node.rows(after: 30, bytesMax: 1000).map(\.payload) == [[2]])
  }

  @Test("A wait for rows ends with the append of another node, or by its limit", arguments: kinds)
  func waitsEndWithAnAppend(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (leader, replica) = (try await cluster.node(), try await cluster.node())
    let lease = try #require(try await leader.take(.test("a"), for: Self.long))
    let appender = try leader.appender(of: lease)
    let start = LoopClock.now()
    await replica.waitForRows(after: 0, atMost: .milliseconds(50))
    #expect(LoopClock.now().elapsed(since: start) < .seconds(20))
    let reader = Task {
      var position: Int64 = 0
      while position < 20, !Task.isCancelled {
        await replica.waitForRows(after: position, atMost: .seconds(60))
        position =
          try await replica.rows(after: position, bytesMax: 1000).last?.position ?? position
      }
    }
    for position in 1...20 as ClosedRange<Int64> { try appender.append([1], at: position) }
    try await reader.value
    #expect(LoopClock.now().elapsed(since: start) < .seconds(50))
    appender.close()
    #expect(appender.failure([1], at: 21)?.isUnavailable == true)
  }

  // MARK: Nodes

  @Test("Nodes are listed with what they last said, until they are removed", arguments: kinds)
  func nodesAreListed(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    try await node.beat(.test("b", position: 4))
    try await node.beat(.test("a", position: 5, version: "1.1"))
    try await node.beat(.test("b", position: 7, digest: "e"))
    let found = try await node.nodes()
    #expect(found.map(\.id.text) == ["a", "b"])
    #expect(found.map(\.position) == [5, 7])
    #expect(found.map(\.version) == ["1.1", "1.0"])
    #expect(found.map(\.digest) == ["d", "e"])
    #expect(found.map(\.url) == ["http://a.example:8080", "http://b.example:8080"])
    let isGone = try await eventuallyHolds {
      try await node.beat(.test("b"))
      let found = try await node.nodes()
      return found.count == 2 && !found[0].isLive && found[1].isLive && found[0].seenAgo > .zero
    }
    #expect(isGone)
    try await node.remove(NodeID("a"))
    #expect(try await node.nodes().map(\.id.text) == ["b"])
  }

  @Test(
    "A live node's id is not taken by another place, and is by the same or later", arguments: kinds)
  func twinsAreRefused(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (own, other) = (try await cluster.node(), try await cluster.node())
    let folder = NodeRecord.test("a", position: 4, place: "folder")
    let copy = NodeRecord.test("a", position: 5, place: "copy")
    try await own.beat(folder)
    #expect(try await other.nodes().map(\.place) == ["folder"])
    let refusal = await failure { () throws(ClusterError) in try await other.beat(copy) }
    // The node's own time of 200 ms may have passed on a slow machine.
    if let refusal {
      #expect(refusal == .twin(url: "http://a.example:8080"))
      #expect(try await own.nodes().map(\.position) == [4])
    }
    // A restart of the same folder does not wait.
    let restarted = try await SharedCluster(kind).node()
    try await restarted.beat(folder)
    try await restarted.beat(.test("a", position: 6, place: "folder"))
    #expect(try await restarted.nodes().map(\.position) == [6])
    // A node of an earlier release says no place.
    try await restarted.beat(.test("a", position: 7))
    try await restarted.beat(.test("a", position: 8, place: "copy"))
    #expect(try await restarted.nodes().map(\.position) == [8])
    // Once the first is gone, the copy is the node.
    let isTaken = await eventuallyHolds {
      await failure { () throws(ClusterError) in try await other.beat(copy) } == nil
    }
    #expect(isTaken)
    #expect(try await own.nodes().map(\.place) == ["copy"])
    let late = try await eventuallyHolds {
      try await other.beat(copy)
      return await failure { () throws(ClusterError) in try await own.beat(folder) } != nil
    }
    #expect(late)
  }

  @Test("A whole cluster, and one that was never made, have lost nothing", arguments: kinds)
  func nothingIsLost(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let unmade = try cluster.unprepared()
    #expect(try await unmade.losses().isEmpty)
    let node = try await cluster.node()
    let lease = try #require(try await node.take(.test("a"), for: Self.long))
    try node.appender(of: lease).append([1], at: 1)
    #expect(try await node.losses().isEmpty)
  }

  @Test("Calls after closing are refused", arguments: kinds)
  func closedBackends(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let node = try await cluster.node()
    await node.close()
    let refused = await failure { () throws(ClusterError) in try await node.head() }
    #expect(refused?.isUnavailable == true)
  }
}
