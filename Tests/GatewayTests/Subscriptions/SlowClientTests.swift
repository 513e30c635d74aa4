import Model
import TestSupport
import Testing
import Upstream

@testable import Gateway

struct SlowClientTests {
  @Test("A slow client gets a gap and continues with the newest event; others miss nothing")
  func slowClientGetsGap() async throws {
    let world = try SubscriptionWorld()
    let fast = try await world.reader("Plain")
    let slow = world.hub.open(try await world.start("Plain"))
    let upstream = try await world.opened()
    let count = SubscriptionMailbox.eventsMax + 3 * EventInbox.eventsMax
    for number in 1...count {
      upstream.change("1", "n", version: number)
      // The fast client keeps up whatever else the machine does.
      if number.isMultiple(of: EventInbox.eventsMax) { _ = await fast.frames(number) }
    }
    let frames = await fast.frames(count)
    #expect(frames.map(Self.version) == Array(1...count))
    guard case .gap = await slow.next() else {
      Issue.record("no gap")
      return
    }
    var versions: [Int] = []
    while versions.last != count, case .next(let body) = await slow.next() {
      versions.append(Self.version(String(decoding: body, as: UTF8.self)))
    }
    #expect(versions.last == count)
    #expect(versions == Array((count - versions.count + 1)...count), "the newest, in order")
    #expect(versions.count <= SubscriptionMailbox.eventsMax)
    await fast.leave()
  }

  private static func version(_ body: String) -> Int {
    Int(body.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
  }

  @Test("A mailbox keeps one batch of any size, and drops older ones beyond its limits")
  func mailboxIsBounded() {
    let signal = CommitSignal { _ in }
    let mailbox = SubscriptionMailbox(
      listener: signal.listen(as: Viewer(layers: [])), subject: nil)
    let large = EventBatch([[UInt8](repeating: 0x20, count: SubscriptionMailbox.bytesMax + 1)])
    #expect(!mailbox.add(large))
    #expect(mailbox.add(EventBatch([[1]])))
    guard case .gap = mailbox.take(), case .batch(let batch) = mailbox.take() else {
      Issue.record("no gap and batch")
      return
    }
    #expect(batch.bodies == [[1]])
    #expect(mailbox.take() == nil)
    for _ in 0..<SubscriptionMailbox.eventsMax { #expect(!mailbox.add(EventBatch([[1]]))) }
    #expect(mailbox.add(EventBatch([[2]])))
    mailbox.addGap()
    mailbox.addGap()
    mailbox.end(with: .complete)
    mailbox.end(with: .gap)
    #expect(!mailbox.add(EventBatch([[3]])))
    var names: [String] = []
    while let content = mailbox.take() {
      switch content {
      case .batch(let batch): names.append("\(batch.bodies)")
      case .gap: names.append("gap")
      case .complete: names.append("complete")
      case .error: names.append("error")
      }
    }
    #expect(names == ["gap", "[[2]]", "gap", "complete"])
  }

  @Test("The last client to take a batch, or to go without it, is noted once")
  func notesLastDelivery() {
    let count = CommitCount()
    let signal = CommitSignal { _ in }
    let mailboxes = (0..<3).map { _ in
      SubscriptionMailbox(listener: signal.listen(as: Viewer(layers: [])), subject: nil)
    }
    let batch = EventBatch([[1]]) { count.increment() }
    batch.expect(mailboxes.count)
    mailboxes[2].end(with: .complete)
    for mailbox in mailboxes { _ = mailbox.add(batch) }
    if case .batch(let taken) = mailboxes[0].take() { taken.noteDelivered() }
    #expect(count.value == 0)
    mailboxes[1].close()
    #expect(count.value == 1)
  }

  @Test("The bytes of a batch are the same object for every client")
  func sharesBytes() {
    let batch = EventBatch([Array(#"{"data":1}"#.utf8), Array(#"{"data":2}"#.utf8)])
    let first = batch.eventFrames.withUnsafeBufferPointer { $0.baseAddress }
    let second = batch.eventFrames.withUnsafeBufferPointer { $0.baseAddress }
    #expect(first == second)
    #expect(
      String(decoding: batch.eventFrames, as: UTF8.self)
        == "event: next\ndata: {\"data\":1}\n\nevent: next\ndata: {\"data\":2}\n\n")
  }

  @Test("While events wait to be stored, only a bounded number is read from upstream")
  func inboxIsBounded() async throws {
    let script = SubscriptionScript()
    let world = try SubscriptionWorld()
    let operation = try #require(world.registry.operation(named: "Plain"))
    let subscription = script.open(operation, variables: .none, call: .init(), credential: "")
    let upstream = script.opened[0]
    for number in 0..<1_000 { upstream.change("1", "n", version: number) }
    let inbox = EventInbox(uptime: { .zero })
    async let filling: Void = inbox.fill(from: subscription)
    await eventually { upstream.takenCount == EventInbox.eventsMax + 1 }
    var taken = await inbox.take().count
    #expect(taken == EventInbox.eventsMax)
    upstream.finish()
    while true {
      let more = await inbox.take()
      if more.isEmpty { break }
      #expect(more.count <= EventInbox.eventsMax)
      taken += more.count
    }
    #expect(taken == 1_000)
    await filling
  }

  /// Clients come, go, read slowly and fast while events flow: each sees them in order, and misses some
  /// only after a gap.
  @Test("No client misses an event without a gap", arguments: 0..<20)
  func missesNothingSilently(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let world = try SubscriptionWorld()
    let keeper = try await world.reader("Plain")
    let upstream = try await world.opened()
    var sent = 0
    var readers: [StreamReader] = []
    for _ in 0..<40 {
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: readers.append(try await world.reader("Plain"))
      case 1:
        if let index = readers.indices.randomElement(using: &generator) {
          await readers[index].leave()
        }
      case 2: upstream.send(.established(afterGap: true))
      default:
        for _ in 0..<Int.random(in: 1...200, using: &generator) {
          sent += 1
          upstream.change("1", "n", version: sent)
        }
      }
    }
    sent += 1
    upstream.change("1", "n", version: sent)
    let last = sent
    await eventually { keeper.frames.last.map(Self.version) == last }
    for reader in readers + [keeper] {
      await reader.leave()
      var previous: Int?
      for frame in reader.frames {
        guard frame != "gap" else {
          previous = nil
          continue
        }
        let version = Self.version(frame)
        #expect(previous.map { $0 + 1 == version } ?? true, "seed \(seed)")
        previous = version
      }
    }
  }
}
