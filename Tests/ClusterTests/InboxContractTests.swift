import Cluster
import Model
import Synchronization
import TestSupport
import Testing
import Transport

/// What every inbox guarantees.
struct InboxContractTests {
  private static let kinds = BackendKind.available

  private func entry(_ device: String, _ key: String, _ body: String = "{}") -> InboxEntry {
    InboxEntry(device: device, key: key, body: Array(body.utf8))
  }

  @Test(
    "Entries come back as submitted, in order of their numbers, until they are removed",
    arguments: kinds)
  func entriesRoundTrip(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    let first = try await a.submit([entry("d1", "k1", "one"), entry("d2", "k1", "two")])
    let second = try await b.submit([entry("d1", "k2", "ü\u{0}"), entry("d1", "k0", "")])
    let numbers = (first + second).map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == 4)
    #expect((first + second).map(\.isNew) == [true, true, true, true])
    let all = try await a.inbox(after: 0, limit: 100)
    #expect(all.map(\.number) == numbers)
    #expect(all.map(\.device) == ["d1", "d2", "d1", "d1"])
    #expect(all.map(\.key) == ["k1", "k1", "k2", "k0"])
    #expect(all.map { String(decoding: $0.body, as: UTF8.self) } == ["one", "two", "ü\u{0}", ""])
    let now = Timestamp(milliseconds: LoopClock.wallTime())
    #expect(all.allSatisfy { $0.at.elapsed(until: now) < .seconds(600) })
    #expect(try await b.inbox(after: 0, limit: 2).map(\.number) == Array(numbers[..<2]))
    #expect(try await b.inbox(after: numbers[1], limit: 9).map(\.number) == Array(numbers[2...]))
    #expect(try await b.inbox(of: "d1").map(\.key) == ["k1", "k2", "k0"])
    #expect(try await b.inbox(of: "d3").isEmpty)
    let state = try await a.inboxState()
    #expect(state.count == 4 && state.lastNumber == numbers[3] && state.oldestAge != nil)
    try await a.removeInbox([numbers[0], numbers[2], 123_456])
    try await a.removeInbox([])
    #expect(try await b.inbox(after: 0, limit: 9).map(\.number) == [numbers[1], numbers[3]])
    try await b.removeInbox(numbers)
    let empty = try await a.inboxState()
    #expect(empty.count == 0 && empty.oldestAge == nil && empty.lastNumber == numbers[3])
  }

  @Test("The same key of a device is one entry, which stays as it was", arguments: kinds)
  func keysAreUnique(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    let (a, b) = (try await cluster.node(), try await cluster.node())
    let first = try await a.submit([entry("d", "k", "first")])
    let again = try await b.submit([
      entry("d", "new"), entry("d", "k", "second"), entry("d", "new"),
    ])
    #expect(again.map(\.isNew) == [true, false, false])
    #expect(again[1].number == first[0].number)
    #expect(again[0].number == again[2].number && again[0].number > first[0].number)
    #expect(
      try await a.inbox(after: 0, limit: 9).map(\.body) == [Array("first".utf8), Array("{}".utf8)])
    #expect(try await a.submit([]).isEmpty)
  }

  @Test(
    "With 16 submitters on three nodes a reader never misses a number that it has passed",
    arguments: kinds)
  func numbersFollowTheCommits(kind: BackendKind) async throws {
    let cluster = try await SharedCluster(kind)
    var nodes: [any ClusterBackend] = []
    for _ in 0..<3 { nodes.append(try await cluster.node()) }
    let (submitters, rounds) = (16, 12)
    let reader = nodes[2]
    let reading = Task { () throws -> [InboxEntry] in
      var seen: [InboxEntry] = []
      while seen.count < submitters * rounds, !Task.isCancelled {
        let last = seen.last?.number ?? 0
        seen += try await reader.inbox(after: last, limit: 7)
        await reader.waitForInbox(after: seen.last?.number ?? 0, atMost: .seconds(1))
      }
      return seen
    }
    let receipts = try await withThrowingTaskGroup(of: [InboxReceipt].self) { group in
      for submitter in 0..<submitters {
        let node = nodes[submitter % nodes.count]
        group.addTask {
          var receipts: [InboxReceipt] = []
          for round in 0..<rounds {
            let device = "d\(submitter)"
            receipts += try await node.submit([entry(device, "k\(round)", "\(submitter)/\(round)")])
            // Another submitter's key, at the same time, is not added twice.
            _ = try await node.submit([entry("d\((submitter + 1) % submitters)", "k0", "other")])
          }
          return receipts
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(receipts.count == submitters * rounds)
    let watch = Task {
      try await Task.sleep(for: .seconds(120))
      reading.cancel()
    }
    let seen = try await reading.value
    watch.cancel()
    // All were seen by a reader that never looks back, each once, and those of a device in their order.
    #expect(seen.count == submitters * rounds)
    #expect(Set(seen.map(\.number)).count == seen.count)
    for submitter in 0..<submitters {
      let keys = seen.filter { $0.device == "d\(submitter)" }.map(\.key).filter { $0 != "k0" }
      #expect(keys == (1..<rounds).map { "k\($0)" })
    }
    #expect(try await nodes[0].inbox(after: 0, limit: 1000).map(\.number) == seen.map(\.number))
  }

  @Test("An entry that cannot be stored does not fail those beside it")
  func invalidEntriesFailAlone() async throws {
    guard PostgresServer.isInstalled else { return }
    let cluster = try await SharedCluster(.postgres)
    let node = try await cluster.node()
    async let good = node.submit([entry("d", "k")])
    let bad = await failure { () throws(ClusterError) in try await node.submit([entry("d", "k\0")])
    }
    #expect(bad?.faultText?.contains("zero character") == true)
    #expect(try await good.map(\.isNew) == [true])
  }
}
