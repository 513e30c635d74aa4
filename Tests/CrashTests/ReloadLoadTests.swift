import DemoUpstream
import Foundation
import Glibc
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// Reloads under load, and beside the end of the process.
  struct ReloadLoadTests {
    private static let clients = 6
    /// In a row, each a few responses after the one before: about ten seconds.
    private static let reloads = 100
    private static let responsesBetween = 20

    private static func operations(_ number: Int) -> String {
      """
      query Film($id: ID!) @route(path: "/films/{id}")
      @cache(maxAge: \(60 + number), staleIfError: 60, scope: PUBLIC) { film(id: $id) { id title } }
      mutation Rate($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
        rateFilm(id: $id, stars: $stars) { id }
      }

      """
    }

    private static func start(
      latency: Duration = .zero, settings: String = ""
    ) async throws -> (folder: ServiceFolder, larder: LarderProcess, demo: DemoServer) {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      try await demo.change { $0.latency = latency }
      let folder = try ServiceFolder(
        upstream: demo.url, operations: "operations", settings: settings)
      try folder.write(operations(0), to: "operations/films.graphql")
      let larder = try LarderProcess.spawnService(folder, ["--set", "log.level=notice"])
      try await larder.becomeReady()
      return (folder, larder, demo)
    }

    /// Writes other operations, and waits until they are served.
    private static func reload(
      _ number: Int, _ folder: ServiceFolder, _ larder: LarderProcess
    ) async throws {
      try folder.write(operations(number), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      let isDone = await Moment.comes(withinSeconds: 30) { reloads(in: larder) == number }
      #expect(isDone, "\(number): \(larder.errors)")
    }

    /// The number of reloads that the log tells of.
    private static func reloads(in larder: LarderProcess) -> Int {
      larder.errors.ranges(of: "operations and settings reloaded").count
    }

    @Test("A hundred reloads under load lose no request and close no connection")
    func reloadsUnderLoad() async throws {
      let (folder, larder, demo) = try await Self.start(latency: .milliseconds(10))
      let port = larder.port
      let tally = DrainTally()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<Self.clients {
          group.addTask {
            try await onOwnThread { Self.ask(port: port, number: number, tally) }
          }
        }
        for number in 1...Self.reloads {
          let before = tally.answered
          let goesOn = await Moment.comes(withinSeconds: 20) {
            tally.answered >= before + Self.responsesBetween
          }
          #expect(goesOn, "\(number)")
          try await Self.reload(number, folder, larder)
        }
        let before = tally.answered
        #expect(await Moment.comes(withinSeconds: 20) { tally.answered >= before + 100 })
        tally.end()
        try await group.waitForAll()
      }
      #expect(tally.faults == [])
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }

    /// Sends requests on one connection until the end; every second one is answered by upstream.
    private static func ask(port: Int, number: Int, _ tally: DrainTally) {
      do {
        let client = try RawClient(port: port, timeoutSeconds: 30)
        var step = 0
        while !tally.isOver {
          step += 1
          let answer = try client.request(
            "GET", "/api/films/f\(number * 20 + step % 20 + 1)",
            headers: step.isMultiple(of: 2) ? [("Cache-Control", "no-cache")] : [])
          if answer.status != 200 { tally.noteFault("\(answer.status) \(answer.text)") }
          if answer["connection"]?.lowercased() == "close" {
            tally.noteFault("the connection was closed after \(step) requests")
            return
          }
          tally.noteResponse()
        }
      } catch {
        tally.noteFault("a request was sent and not answered: \(error)")
      }
    }

    /// Each film that was read is an event of a stream before a reload or after it, once.
    @Test("Streams end at a reload, and continue without a gap or a repetition")
    func streamsContinue() async throws {
      let (folder, larder, demo) = try await Self.start()
      let port = larder.port
      let follower = StreamFollower()
      let reading = ReadingClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await follower.run(port: port) }
        #expect(await Moment.comes(withinSeconds: 20) { follower.isFollowing })
        group.addTask { try await onOwnThread { reading.run(port: port) } }
        for number in 1...3 {
          let before = reading.films.count
          #expect(await Moment.comes(withinSeconds: 20) { reading.films.count >= before + 20 })
          try await Self.reload(number, folder, larder)
        }
        let before = reading.films.count
        #expect(await Moment.comes(withinSeconds: 20) { reading.films.count >= before + 20 })
        reading.end()
        let isComplete = await Moment.comes(withinSeconds: 20) {
          follower.films.isSuperset(of: reading.films)
        }
        #expect(isComplete)
        follower.end()
        #expect(try await larder.terminate() == 0)
        try await group.waitForAll()
      }
      #expect(reading.faults == [])
      #expect(follower.faults == [])
      #expect(follower.resumptions >= 3)
      await demo.stop()
    }

    @Test("A queued mutation outlives reloads, and is sent once")
    func queuedMutationsAreKept() async throws {
      let (folder, larder, demo) = try await Self.start()
      try await demo.change { $0.fail = .refuse }
      let port = larder.port
      let (token, id) = try await onOwnThread { () -> (String, String) in
        let client = try RawClient(port: port)
        let token = try client.registerDevice()
        let answer = try client.request(
          "POST", "/v1/mutations",
          headers: QueueLoad.headers(0, token: token) + [("Idempotency-Key", "k1")],
          body: #"{"operation":"Rate","mode":"steady","variables":{"id":"f1","stars":3}}"#)
        #expect(answer.status == 202, "\(answer.text)")
        return (token, try #require(try JSONValue(parsing: answer.body)["id"]?.string))
      }
      for number in 1...3 { try await Self.reload(number, folder, larder) }
      try await demo.change { $0.fail = .off }
      let isApplied = await Moment.comes(withinSeconds: 30) {
        try await onOwnThread {
          let answer = try RawClient(port: port).request(
            "GET", "/v1/mutations/\(id)", headers: [("Device-Token", token)])
          return try JSONValue(parsing: answer.body)["state"] == "applied"
        }
      }
      #expect(isApplied, "\(larder.errors)")
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    @Test("SIGTERM during a reload answers the requests that wait, and ends in order")
    func terminationDuringAReload() async throws {
      let (folder, larder, demo) = try await Self.start(latency: .seconds(4))
      let port = larder.port
      async let slow = onOwnThread { try RawClient(port: port).request("GET", "/api/films/f1") }
      #expect(await Moment.comes(withinSeconds: 10) { demo.report.inFlight == 1 })
      try folder.write(Self.operations(1), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      // It waits for the slow request from here on, as all further requests do.
      let held = try RawClient(port: port, timeoutSeconds: 20)
      let isHolding = await Moment.comes(withinSeconds: 10) {
        try await onOwnThread {
          let probe = try RawClient(port: port, timeoutSeconds: 1)
          return (try? probe.request("GET", "/readyz")) == nil
        }
      }
      try held.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
      larder.signal(SIGTERM)
      #expect(try await larder.status() == 0, "\(larder.errors)")
      let first = try await slow
      #expect(first.status == 200)
      // Answered by the deployment that the reload has opened, which is about to end.
      #expect(isHolding, "the reload waited for no request")
      let status = try held.response().status
      #expect([200, 503].contains(status))
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }

    @Test("Liveness is reported while requests wait for a reload")
    func livenessIsReported() async throws {
      let (folder, larder, demo) = try await Self.start(latency: .seconds(5))
      let port = larder.port
      async let slow = onOwnThread { try RawClient(port: port).request("GET", "/api/films/f1") }
      #expect(await Moment.comes(withinSeconds: 10) { demo.report.inFlight == 1 })
      try folder.write(Self.operations(1), to: "operations/films.graphql")
      larder.signal(SIGHUP)
      let isHolding = await Moment.comes(withinSeconds: 10) {
        try await onOwnThread {
          let probe = try RawClient(port: port, timeoutSeconds: 1)
          return (try? probe.request("GET", "/readyz")) == nil
        }
      }
      #expect(isHolding)
      let alive = try await onOwnThread { try RawClient(port: port).request("GET", "/healthz") }
      #expect(alive.status == 200)
      #expect(Self.reloads(in: larder) == 0)
      let first = try await slow
      #expect(first.status == 200)
      #expect(await Moment.comes(withinSeconds: 20) { Self.reloads(in: larder) == 1 })
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }

    @Test("Many reloads leave no descriptors and no memory behind")
    func reloadsLeaveNothing() async throws {
      let (folder, larder, demo) = try await Self.start()
      let port = larder.port
      @Sendable func use() throws {
        let client = try RawClient(port: port)
        for number in 1...20 { _ = try client.request("GET", "/api/films/f\(number)") }
      }
      var early: (descriptors: Int, kibibytes: Int)?
      for number in 1...40 {
        try await Self.reload(number, folder, larder)
        try await onOwnThread { try use() }
        if number == 10 { early = try larder.holdings() }
      }
      let before = try #require(early)
      let settles = await Moment.comes(withinSeconds: 40) {
        try larder.holdings().descriptors <= before.descriptors + 4
      }
      let after = try larder.holdings()
      #expect(settles, "\(before) \(after)")
      // Thirty deployments that are kept would be far more.
      #expect(after.kibibytes < before.kibibytes + 48 * 1024, "\(before) \(after)")
      #expect(try await larder.terminate() == 0)
      await demo.stop()
    }
  }
}

extension LarderProcess {
  /// The open descriptors and the resident memory of the process.
  fileprivate func holdings() throws -> (descriptors: Int, kibibytes: Int) {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd")
    let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let size = line.flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }
    return (descriptors.count, size.flatMap { Int($0) } ?? 0)
  }
}
