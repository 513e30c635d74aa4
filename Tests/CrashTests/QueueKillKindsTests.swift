import Glibc
import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Crashes {
  /// `kill -9` between an effect and its response, for each kind of mutation whose outcome can be unknown,
  /// over an upstream without idempotency keys.
  struct QueueKillKindsTests {
    private static let drainSecondsMax = 20
    private static let burnSecondsMax = 20
    private static let settings = "queue: {probe: 1s, forceDeadline: 1s}"
    /// The mutation at which each round kills the service, and whether it has taken effect by then.
    private static let kills = [
      ("Make", true), ("Put", true), ("Rename", true), ("Put", false), ("Drop", true),
      ("Make", false), ("Rate", true), ("Drop", false),
    ]

    @Test(
      "kill -9: a mutation that cannot be repeated takes effect once at most",
      arguments: [UInt64(1_927)])
    func unrepeatableMutationsTakeEffectOnce(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let upstream = CountingUpstream()
      let server = try await ScriptedServer { upstream.respond(to: $0) }
      let folder = try ServiceFolder(
        upstream: server.url, operations: "operations", settings: Self.settings)
      try folder.write(QueueKindsLoad.operations, to: "operations/films.graphql")
      let tokens = try await KilledService.register(QueueKindsLoad.phones, in: folder)
      let enqueued = EnqueuedMutations()
      var readers: [ChangeReader] = []
      for (round, kill) in Self.kills.enumerated() {
        let larder = try await LarderProcess.serve(folder)
        readers = try await Self.follow(readers, tokens, at: larder.port)
        let processID = larder.processID
        upstream.lay(
          CountingUpstream.Fuse(
            operation: kill.0, isAfterEffect: kill.1,
            countdown: Int.random(in: 0..<4, using: &random)
          ) { Glibc.kill(processID, SIGKILL) })
        try await Self.load(larder, tokens, enqueued, round: round, random: &random)
        #expect(upstream.burnt.count == round + 1, "seed \(seed), round \(round)")
        #expect(try StoredFiles(of: folder).faults() == [], "seed \(seed), round \(round)")
      }
      #expect(enqueued.faults == [], "seed \(seed)")
      upstream.calmDown()
      let larder = try await LarderProcess.serve(folder)
      let check = QueueKindsCheck(port: larder.port, tokens: tokens, note: "seed \(seed)")
      try await check.drained(withinSeconds: Self.drainSecondsMax)
      let sendings = upstream.sendings
      try await check.burnt(upstream.burnt, sendings)
      try await check.effects(sendings)
      try await check.order(sendings)
      readers = try await Self.follow(readers, tokens, at: larder.port)
      for phone in tokens.indices { try await check.told(phone, readers[phone]) }
      try await check.acknowledged(enqueued.acknowledged)
      #expect(upstream.lookCount > 0, "seed \(seed)")
      #expect(upstream.sendings.count == sendings.count, "seed \(seed): a key was sent again")
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      await server.stop()
    }

    /// Each phone continues reading changes at its cursor, whichever process it calls.
    private static func follow(
      _ readers: [ChangeReader], _ tokens: [String], at port: Int
    ) async throws -> [ChangeReader] {
      try await onOwnThread {
        try tokens.enumerated().map { phone, token in
          let before = readers.indices.contains(phone) ? readers[phone] : nil
          var reader = ChangeReader(
            port: port, headers: QueueLoad.headers(phone, token: token),
            from: before?.places.last)
          guard try reader.catchUp() else {
            throw ChangeReader.Problem.refused(410, "phone \(phone) cannot go on")
          }
          return reader
        }
      }
    }

    /// Runs the load until the fuse has killed the service.
    private static func load(
      _ larder: LarderProcess, _ tokens: [String], _ enqueued: EnqueuedMutations, round: Int,
      random: inout SeededGenerator
    ) async throws {
      let port = larder.port
      let seeds = tokens.map { _ in random.next() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (phone, seed) in seeds.enumerated() {
          group.addTask {
            try await onOwnThread {
              var load = QueueKindsLoad(
                port: port, phone: phone, token: tokens[phone], round: round,
                enqueued: enqueued, random: SeededGenerator(seed: seed))
              load.run()
            }
          }
        }
        let isOver = await Moment.comes(withinSeconds: burnSecondsMax) { !larder.isRunning }
        #expect(isOver, "round \(round): \(larder.errors)")
        await larder.kill()
        try await group.waitForAll()
      }
    }
  }
}
