import Foundation
import LosslessJSON
import Synchronization
import TestSupport
import Testing
import VendorDouble

extension Crashes {
  /// `kill -9` between the commit of a write and the delivery of its event, repeatedly over the same data.
  struct HookOutKillTests {
    private static let rounds = 4
    private static let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// The ids that got a 201.
    private final class Written: Sendable {
      private let ids = Mutex<[String]>([])

      var all: [String] { ids.withLock { $0 } }

      func note(_ id: String) { ids.withLock { $0.append(id) } }
    }

    @Test("kill -9: every confirmed write is reported to its hook", arguments: [UInt64(20_281)])
    func confirmedWritesAreReported(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      // Found a free port; until the last round nothing listens there.
      let reserved = try await HookReceiver()
      let port = reserved.port
      await reserved.stop()
      let folder = try ServiceFolder(
        upstream: "http://127.0.0.1:1/graphql",
        settings: """
          local: local.graphql
          hooks:
            out:
              - {on: Note insert, when: after, url: "http://127.0.0.1:\(port)", secret: \(Self.secret)}
          """)
      try folder.write("type Note @local { id: ID! text: String }\n", to: "local.graphql")
      let written = Written()
      let device = ("Device-Token", try await KilledService.register(in: folder)[0])
      for round in 0..<Self.rounds {
        let larder = try await LarderProcess.serve(folder)
        let client = { @Sendable (port: Int) throws in
          let client = try RawClient(port: port)
          for step in 0... {
            let id = "n-\(round)-\(step)"
            let answer = try client.request(
              "POST", "/v1/entities/Note",
              headers: [device, ("Content-Type", "application/json")],
              body: #"{"id":"\#(id)","text":"x"}"#)
            if answer.status == 201 { written.note(id) }
          }
        }
        await KilledService.load(
          larder, at: .init(after: 1..<30, random: &random), count: { written.all.count },
          clients: [client])
      }
      let all = Set(written.all)
      #expect(all.count >= Self.rounds, "seed \(seed)")
      let hook = try await HookReceiver(port: port)
      let larder = try await LarderProcess.serve(folder)
      let arrives = await Moment.comes(withinSeconds: 90) {
        all.isSubset(of: hook.calls.compactMap { $0.json["id"]?.string })
      }
      let arrived = Set(hook.calls.compactMap { $0.json["id"]?.string })
      #expect(arrives, "seed \(seed): \(all.subtracting(arrived)) did not arrive")
      #expect(try await larder.terminate() == 0)
      await hook.stop()
    }
  }
}
