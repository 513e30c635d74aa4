import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Gateway

/// One stream of many subjects: fairness, faults, changes of its subjects, positions.
@Suite(.timeLimit(.minutes(10))) struct LiveStreamTests {
  /// A subject whose events the test sends.
  private final class Script: LiveSource {
    private struct State {
      var frames: [[UInt8]] = []
      var failure: Failure?
      var hasEnded = false
      var openCount = 0
      var releasedCount = 0
      var readCount = 0
      var position: String?
      var isResumed: Bool?
    }

    private let state = Mutex(State())
    private let signal = AsyncSignal()
    let startFailure: Failure?

    init(startFailure: Failure? = nil) { self.startFailure = startFailure }

    func start(
      for caller: Caller, at position: String?, isResumed: Bool
    ) async throws(Failure) -> @Sendable () -> any EventSource {
      if let startFailure { throw startFailure }
      state.withLock {
        $0.position = position
        $0.isResumed = isResumed
      }
      return { Reader(script: self) }
    }

    func send(_ text: String, id: String? = nil, event: String? = nil) {
      var frame: [UInt8] = []
      EventFrame.append(id: id, event: event, data: Array(text.utf8), to: &frame)
      state.withLock { $0.frames.append(frame) }
      signal.notify()
    }

    func end(_ failure: Failure? = nil) {
      state.withLock {
        $0.hasEnded = true
        $0.failure = failure
      }
      signal.notify()
    }

    var position: String? { state.withLock { $0.position } }
    /// Whether it was started for a client that continues a stream; nil before its start.
    var isResumed: Bool? { state.withLock { $0.isResumed } }
    var readCount: Int { state.withLock { $0.readCount } }
    var isReleased: Bool { state.withLock { $0.openCount == 1 && $0.releasedCount == 1 } }

    private final class Reader: EventSource {
      let script: Script

      init(script: Script) {
        self.script = script
        script.state.withLock { $0.openCount += 1 }
      }

      deinit { script.state.withLock { $0.releasedCount += 1 } }

      func next() async throws(Failure) -> [UInt8]? {
        while true {
          let seen = script.signal.count
          let (frame, failure, hasEnded) = script.state.withLock { state in
            let frame = state.frames.isEmpty ? nil : state.frames.removeFirst()
            if frame != nil { state.readCount += 1 }
            return (frame, state.failure, state.hasEnded)
          }
          if let frame { return frame }
          if let failure { throw failure }
          if hasEnded || Task.isCancelled { return nil }
          await script.signal.wait(after: seen)
        }
      }
    }
  }

  private struct World {
    let streams: LiveStreams
    let signal = CommitSignal { try await Task.sleep(for: $0) }
    let devices: DeviceRegistry
    let folder: StoreFolder

    init() throws {
      folder = try StoreFolder()
      devices = .forTests(folder, TestClock())
      streams = LiveStreams(
        devices: devices, signal: signal,
        codec: LivePositionCodec(key: KeyRing(root: Array(0..<32)).key(for: .live)),
        random: RandomBytes { UInt8.random(in: 0...UInt8.max) })
    }

    func start(
      _ subjects: [(String, Script)], by caller: Caller = .anonymous, lastEventID: String? = nil
    ) throws -> LiveStream.Start {
      try streams.start(
        LiveStreamTests.requested(subjects), by: caller, from: ClientNetwork("192.0.2.1"),
        lastEventID: lastEventID)
    }

    func open(_ start: LiveStream.Start) -> LiveStream {
      streams.open(start) { Array(#"{"code":"\#($0.code.rawValue)"}"#.utf8) }
    }
  }

  private static func requested(
    _ subjects: [(String, Script)]
  ) -> [LiveSubject.Requested] {
    subjects.enumerated().map { index, subject in
      LiveSubject.Requested(
        subject: LiveSubject(id: subject.0, definition: [1], source: subject.1),
        pointer: "/queries/\(index)")
    }
  }

  /// Reads until there are as many events as wanted.
  private static func events(
    _ count: Int, of stream: LiveStream
  ) async throws -> [EventFrame.Event] {
    var events: [EventFrame.Event] = []
    while events.count < count, let bytes = try await stream.next() {
      events += EventFrame.events(in: bytes)
    }
    return events
  }

  private static func text(_ event: EventFrame.Event) -> String {
    String(decoding: event.data, as: UTF8.self)
  }

  @Test("Each event has the id of its subject around the subject's own data")
  func eventsNameTheirSubject() async throws {
    let world = try World()
    let (first, second) = (Script(), Script())
    let start = try world.start([("a", first), ("b", second)])
    let stream = world.open(start)
    let open = try await Self.events(1, of: stream)
    #expect(open.map(\.event) == ["open"])
    #expect(Self.text(open[0]) == #"{"streamId":"\#(start.id)","resumed":[]}"#)
    first.send(#"{"data":1}"#, id: "t1")
    #expect(
      try await Self.events(1, of: stream).map(Self.text) == [
        #"{"id":"a","lastEventId":"t1","data":{"data":1}}"#
      ])
    second.send("[\n1,\n2]", event: "change")
    let change = try await Self.events(1, of: stream)
    #expect(change[0].event == "change")
    #expect(try JSONValue(parsing: change[0].data)["data"] == [1, 2])
  }

  @Test("A subject's fault or end is reported for that subject and ends no other")
  func faultsEndOneSubject() async throws {
    let world = try World()
    let (good, bad, late) = (
      Script(), Script(startFailure: Failure(.notFound, "There is no such thing.")), Script()
    )
    let start = try world.start([("good", good), ("bad", bad), ("late", late)])
    let stream = world.open(start)
    let open = try await Self.events(2, of: stream)
    #expect(open[1].event == "error")
    #expect(Self.text(open[1]) == #"{"id":"bad","data":{"code":"not_found"}}"#)
    late.end(Failure(.tooCostly, "Too long."))
    #expect(
      try await Self.events(1, of: stream).map(Self.text) == [
        #"{"id":"late","data":{"code":"too_costly"}}"#
      ])
    good.send("1")
    #expect(try await Self.events(1, of: stream).map(Self.text) == [#"{"id":"good","data":1}"#])
    good.end()
    let end = try await Self.events(1, of: stream)
    #expect(end[0].event == "end")
    // All have ended: their ids are free, and the stream goes on.
    let again = Script()
    let ids = try world.streams.change(
      start.id, add: Self.requested([("bad", again)]), remove: [], by: .anonymous)
    #expect(ids == ["bad"])
    again.send("2")
    #expect(try await Self.events(1, of: stream).map(Self.text) == [#"{"id":"bad","data":2}"#])
  }

  @Test("A busy subject delays another by one of its events at most")
  func busySubjectsTakeTurns() async throws {
    let world = try World()
    let (busy, calm) = (Script(), Script())
    let stream = world.open(try world.start([("busy", busy), ("calm", calm)]))
    _ = try await Self.events(1, of: stream)
    for number in 0..<1_000 { busy.send("\(number)") }
    _ = try await Self.events(10, of: stream)
    calm.send("\"now\"")
    var before = 0
    while true {
      let events = try await Self.events(1, of: stream)
      if events.contains(where: { Self.text($0).contains("now") }) { break }
      before += events.count
      await Task.yield()
    }
    #expect(before < 500, "\(before) events of the busy subject came first")
  }

  @Test("A client that reads nothing holds one event of each subject")
  func slowClientsHoldOneEventOfEachSubject() async throws {
    let world = try World()
    let scripts = (0..<20).map { ("s\($0)", Script()) }
    let stream = world.open(try world.start(scripts))
    _ = try await Self.events(1, of: stream)
    for (_, script) in scripts { for number in 0..<50 { script.send("\(number)") } }
    // Another stream goes on in the meantime.
    let other = Script()
    let fast = world.open(try world.start([("x", other)]))
    _ = try await Self.events(1, of: fast)
    for number in 0..<50 {
      other.send("\(number)")
      #expect(try await Self.events(1, of: fast).count == 1)
    }
    #expect(scripts.allSatisfy { $0.1.readCount <= 1 })
    // What it did not read is still there, in order.
    let all = try await Self.events(1_000, of: stream)
    let first = all.map(Self.text).filter { $0.contains(#""s7""#) }
    #expect(first == (0..<50).map { #"{"id":"s7","data":\#($0)}"# })
    withExtendedLifetime(stream) {}
  }

  @Test("The last event's id resumes all subjects, for the same caller only")
  func lastEventIDResumesAllSubjects() async throws {
    let world = try World()
    let (first, second) = (Script(), Script())
    let stream = world.open(try world.start([("a", first), ("b", second)]))
    _ = try await Self.events(1, of: stream)
    first.send("1", id: "tag-a")
    _ = try await Self.events(1, of: stream)
    second.send("1", id: "tag-b")
    let last = try #require(try await Self.events(1, of: stream).last?.id)
    func positions(by caller: Caller, id: String) async throws -> ([String?], String) {
      let (a, b, c) = (Script(), Script(), Script())
      let again = world.open(
        try world.start([("a", a), ("b", b), ("c", c)], by: caller, lastEventID: id))
      let open = try await Self.events(1, of: again)
      for script in [a, b, c] { script.send("1") }
      _ = try await Self.events(3, of: again)
      // A stream without ids, such as a subscription, begins with a gap.
      #expect([a, b, c].allSatisfy { $0.isResumed == true })
      return ([a.position, b.position, c.position], Self.text(open[0]))
    }
    #expect(first.isResumed == false && second.isResumed == false)
    let (resumed, open) = try await positions(by: .anonymous, id: last)
    #expect(resumed == ["tag-a", "tag-b", nil])
    #expect(open.contains(#""resumed":["a","b"]"#))
    for (caller, id) in [
      (Caller(subject: "ada"), last), (.anonymous, String(last.dropLast()) + "_"),
      (.anonymous, "nonsense"), (.anonymous, String(repeating: "A", count: 100_000)),
    ] {
      #expect(try await positions(by: caller, id: id).0 == [nil, nil, nil], "\(id.prefix(40))")
    }
  }

  @Test("Positions have a bounded length, whatever their number")
  func positionsAreBounded() {
    let codec = LivePositionCodec(key: KeyRing(root: Array(0..<32)).key(for: .live))
    let positions = (0..<5_000).map { number in
      (digest: [UInt8](repeating: UInt8(number & 255), count: 7) + [UInt8(number >> 8)], id: "tag")
    }
    let text = codec.encode(positions, viewer: .anonymous)
    #expect(text.utf8.count < 8_192)
    #expect(codec.decode(text, viewer: .anonymous).count > 100)
    let long = codec.encode(
      [(digest: [1], id: String(repeating: "x", count: 300)), (digest: [2], id: "y")],
      viewer: .anonymous)
    #expect(codec.decode(long, viewer: .anonymous) == [[2]: "y"])
  }

  @Test("A removed subject sends nothing more, and all faults of a change are reported")
  func subjectsAreAddedAndRemoved() async throws {
    let world = try World()
    let (first, second) = (Script(), Script())
    let start = try world.start([("a", first), ("b", second)])
    let stream = world.open(start)
    _ = try await Self.events(1, of: stream)
    first.send("1")
    #expect(try await Self.events(1, of: stream).count == 1)
    // Replaced: the same id for another subject.
    let next = Script()
    #expect(
      try world.streams.change(
        start.id, add: Self.requested([("a", next)]), remove: ["a", "unknown"], by: .anonymous)
        == ["b", "a"])
    first.send("old")
    next.send("new")
    #expect(try await Self.events(1, of: stream).map(Self.text) == [#"{"id":"a","data":new}"#])
    let failure = #expect(throws: Failure.self) {
      try world.streams.change(
        start.id, add: Self.requested([("a", Script()), ("c", Script()), ("c", Script())]),
        remove: [], by: .anonymous)
    }
    #expect(
      failure?.details.map(\.place) == [.pointer("/queries/0/id"), .pointer("/queries/2/id")])
    let many = (0..<LiveStreams.subjectsMax).map { ("n\($0)", Script()) }
    #expect(throws: Failure.self) {
      try world.streams.change(
        start.id, add: Self.requested(many), remove: [], by: .anonymous)
    }
  }

  @Test("A stream is unknown to other callers and after its end")
  func foreignStreamsAreUnknown() async throws {
    let world = try World()
    let ada = Caller(subject: "ada")
    var start: LiveStream.Start? = try world.start([("a", Script())], by: ada)
    let id = try #require(start?.id)
    for (name, caller) in [(id, Caller.anonymous), (id, Caller(subject: "eve")), ("s_x", ada)] {
      let failure = #expect(throws: Failure.self) {
        try world.streams.change(name, add: [], remove: ["a"], by: caller)
      }
      #expect(failure?.code == .notFound)
    }
    #expect(try world.streams.change(id, add: [], remove: ["a"], by: ada) == [])
    start = nil
    #expect(throws: Failure.self) { try world.streams.change(id, add: [], remove: [], by: ada) }
    #expect(world.streams.count == 0)
    #expect(world.signal.count == 0)
  }

  @Test("The end of a stream ends all its subjects")
  func endOfTheStreamEndsItsSubjects() async throws {
    let world = try World()
    let scripts = (0..<50).map { ("s\($0)", Script()) }
    do {
      let stream = world.open(try world.start(scripts))
      _ = try await Self.events(1, of: stream)
      for (_, script) in scripts { for _ in 0..<3 { script.send("1") } }
      _ = try await Self.events(100, of: stream)
    }
    #expect(world.streams.count == 0)
    try #require(
      await eventuallyHolds { scripts.allSatisfy { $0.1.isReleased } }, "a subject is still open")
  }

  @Test("A caller has a limited number of streams, and leaves room for others")
  func streamsAreLimited() throws {
    let world = try World()
    var starts: [LiveStream.Start] = []
    let user = Caller(subject: "u", user: "u")
    for _ in 0..<LiveStreams.streamsOfOneMax { starts.append(try world.start([], by: user)) }
    let failure = #expect(throws: Failure.self) { try world.start([], by: user) }
    #expect(failure?.code == .rateLimited)
    // Invented credentials do not make another owner.
    for number in 0..<LiveStreams.streamsOfNetworkMax {
      starts.append(try world.start([], by: Caller(subject: "invented \(number)")))
    }
    #expect(throws: Failure.self) { try world.start([], by: Caller(subject: "one more")) }
    starts.removeLast()
    _ = try world.start([], by: .anonymous)
  }

  @Test("A draining service ends the stream without ending its subjects one by one")
  func drainEndsTheStream() async throws {
    let world = try World()
    let script = Script()
    let stream = world.open(try world.start([("a", script)]))
    _ = try await Self.events(1, of: stream)
    world.signal.end()
    script.end()
    #expect(try await stream.next() == nil)
    #expect(throws: Failure.self) { try world.start([]) }
  }
}
