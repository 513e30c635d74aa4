import DemoUpstream
import Foundation
import Glibc
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// SIGTERM under live streams: they end properly, and the service does not wait for them.
  struct StreamDrainTests {
    @Test("Streams end properly when the service drains")
    func streamsEndAtDrain() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let larder = try await LarderProcess.serve(folder)
      let changes = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now")
      #expect(try await changes.nextEvent()?.event == "bookmark")
      let live = try await EventClient.open(
        port: larder.port, "/v1/operations/Film/stream?id=f1")
      #expect(try await live.nextEvent() != nil)
      let began = ContinuousClock.now
      #expect(try await larder.terminate() == 0)
      #expect(ContinuousClock.now - began < .seconds(5))
      // Reads to the proper end of the response: a cut would throw.
      var told = 0
      while try await changes.nextEvent() != nil { told += 1 }
      #expect(told > 0)
      #expect(try await live.nextEvent() == nil)
      await demo.stop()
    }
  }
}

extension Crashes {
  /// Live streams when one service follows another at the same address.
  struct StreamRestartTests {
    private static let restarts = 3
    private static let followers = 3

    /// Each film that was read is an event of one of the two services, once.
    @Test("Streams continue at the successor without a gap or a repetition")
    func streamsContinueAtTheSuccessor() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let port = try FreePort.find()
      let folder = try ServiceFolder(upstream: demo.url, listen: "127.0.0.1:\(port)")
      var current = try await LarderProcess.serve(folder)
      let followers = (0..<Self.followers).map { _ in StreamFollower() }
      let reading = ReadingClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for follower in followers { group.addTask { await follower.run(port: port) } }
        #expect(await Moment.comes(withinSeconds: 20) { followers.allSatisfy(\.isFollowing) })
        group.addTask { try await onOwnThread { reading.run(port: port) } }
        for _ in 0..<Self.restarts {
          let before = reading.films.count
          #expect(await Moment.comes(withinSeconds: 20) { reading.films.count >= before + 20 })
          current.signal(SIGTERM)
          let next = try LarderProcess.spawnService(folder)
          try await next.becomeReady()
          #expect(try await current.status() == 0, "\(current.errors)")
          current = next
        }
        let before = reading.films.count
        #expect(await Moment.comes(withinSeconds: 20) { reading.films.count >= before + 20 })
        reading.end()
        let areTold = await Moment.comes(withinSeconds: 20) {
          followers.allSatisfy { $0.films.isSuperset(of: reading.films) }
        }
        #expect(areTold)
        for follower in followers { follower.end() }
        #expect(try await current.terminate() == 0)
        try await group.waitForAll()
      }
      #expect(reading.faults == [])
      for follower in followers {
        #expect(follower.faults == [])
        #expect(follower.resumptions >= Self.restarts)
      }
      await demo.stop()
    }
  }
}

extension Crashes {
  /// Live streams that cost nothing while nothing changes.
  struct IdleStreamTests {
    private static let streams = 1_000
    /// The wake-ups of all threads in one interval. A poll of any period would wake at least once per stream.
    private static let wakeUpsMax = 100

    @Test("A thousand idle streams wake no thread")
    func idleStreamsWakeNoThread() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let larder = try await LarderProcess.serve(folder)
      var open: [EventClient] = []
      for _ in 0..<Self.streams {
        let events = try await EventClient.open(
          port: larder.port, "/v1/changes/stream?since=now")
        #expect(try await events.nextEvent()?.event == "bookmark")
        open.append(events)
      }
      // Heartbeats fall into one of three intervals at most.
      var fewest = Int.max
      for _ in 0..<3 {
        let before = try larder.wakeUps()
        await Moment.passes(.seconds(2))
        fewest = min(fewest, try larder.wakeUps() - before)
      }
      #expect(fewest <= Self.wakeUpsMax)
      #expect(open.count == Self.streams)
      await larder.kill()
      await demo.stop()
    }
  }
}

/// A client of the change stream that outlives the service: it reconnects with its cursor as soon as the
/// service listens, and records a fault if it could not continue or got an event twice.
final class StreamFollower: Sendable {
  private struct State {
    var place: String?
    var isFollowing = false
    var isOver = false
    var streams = 0
    /// The cursors of the changes it got.
    var cursors: Set<String> = []
    var films: Set<String> = []
    var faults: [String] = []
  }

  private let state = Mutex(State())

  /// Whether it has its first cursor.
  var isFollowing: Bool { state.withLock { $0.isFollowing } }
  /// The number of streams that continued an earlier one.
  var resumptions: Int { state.withLock { max(0, $0.streams - 1) } }
  var films: Set<String> { state.withLock { $0.films } }
  var faults: [String] { state.withLock { $0.faults } }

  /// Ends it after the stream that it reads.
  func end() { state.withLock { $0.isOver = true } }

  func run(port: Int) async {
    while !state.withLock({ $0.isOver }) {
      do {
        try await readStream(port: port)
      } catch RawClient.Problem.connect(ECONNREFUSED) {
        // Refused for the moment.
      } catch {
        state.withLock { $0.faults.append("a stream did not end properly: \(error)") }
      }
    }
  }

  private func readStream(port: Int) async throws {
    let place = state.withLock { $0.place }
    let stream = try await EventClient.open(
      port: port, "/v1/changes/stream?since=now&types=Film",
      headers: place.map { [("Last-Event-ID", $0)] } ?? [])
    // A service that is about to end refuses new streams.
    if stream.status == 503 { return }
    guard stream.status == 200 else {
      return state.withLock { $0.faults.append("refused with \(stream.status)") }
    }
    state.withLock { $0.streams += 1 }
    while let event = try await stream.nextEvent() { try note(event) }
  }

  private func note(_ event: EventClient.Event) throws {
    let change = try JSONValue(parsing: Array(event.data.utf8))
    state.withLock { state in
      state.isFollowing = true
      state.place = event.id ?? state.place
      switch event.event {
      case "bookmark":
        break
      case "change":
        state.films.insert(change["id"]?.string ?? "")
        if !state.cursors.insert(event.id ?? "").inserted {
          state.faults.append("told twice: \(event)")
        }
      default:
        state.faults.append("\(event)")
      }
    }
  }
}
