import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// Deployments of other operations over a queue that is not empty, with the real process.
  struct DeploymentTests {
    private static let rate = """
      mutation Rate($id: ID!, $stars: Int!) @sync(object: "Film:$id", repeatable: true) {
        rateFilm(id: $id, stars: $stars) { id }
      }

      """
    private static let rename = """
      mutation Rename($id: ID!, $patch: FilmPatch!) @sync(object: "Film:$id", repeatable: true) {
        updateFilm(id: $id, patch: $patch) { id title }
      }

      """
    private static let query = "query Film($id: ID!) { film(id: $id) { id title } }\n"

    private static func deploy(_ operations: String, to folder: ServiceFolder) throws {
      try folder.write(operations, to: "operations/films.graphql")
    }

    private static func status(
      _ id: String, token: String, port: Int
    ) async throws -> JSONValue {
      try await onOwnThread {
        let answer = try RawClient(port: port).request(
          "GET", "/v1/mutations/\(id)", headers: [("Device-Token", token)])
        return try JSONValue(parsing: answer.body)
      }
    }

    @Test("A roll-out without an operation and its roll-back lose no queued mutation")
    func rollBackLosesNothing() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      try await demo.change { $0.fail = .refuse }
      let folder = try ServiceFolder(upstream: demo.url)
      let text = try String(contentsOfFile: folder.settingsPath, encoding: .utf8)
      let lines = text.split(separator: "\n").map { line in
        line.hasPrefix("operations:") ? "operations: \(folder.path)/operations" : String(line)
      }
      try folder.write(lines.joined(separator: "\n") + "\n", to: "larder.yaml")
      try Self.deploy(Self.query + Self.rate + Self.rename, to: folder)
      let token = try await KilledService.register(1, in: folder)[0]

      let first = try await LarderProcess.serve(folder)
      let port = first.port
      let ids = try await onOwnThread {
        let client = try RawClient(port: port)
        return try (1...6).map { number in
          let body =
            number.isMultiple(of: 2)
            ? #"{"operation":"Rate","mode":"steady","variables":{"id":"f\#(number)","stars":3}}"#
            : #"{"operation":"Rename","mode":"steady","variables":{"id":"f\#(number)","patch":{"title":"T\#(number)"}}}"#
          let answer = try client.request(
            "POST", "/v1/mutations",
            headers: QueueLoad.headers(0, token: token) + [("Idempotency-Key", "k\(number)")],
            body: body)
          #expect(answer.status == 202, "\(answer.text)")
          return try #require(try JSONValue(parsing: answer.body)["id"]?.string)
        }
      }
      await first.kill()

      try Self.deploy(Self.query + Self.rate, to: folder)
      let check = try await LarderProcess.run("check", in: folder)
      #expect(check.status == 0)
      let second = try await LarderProcess.serve(folder)
      let isTold = await Moment.comes(withinSeconds: 10) { second.errors.contains("Rename=3") }
      #expect(isTold, "\(second.errors)")
      try await demo.change { $0.fail = .off }
      let secondPort = second.port
      for (index, id) in ids.enumerated() {
        let isRename = index.isMultiple(of: 2)
        let isThere = await Moment.comes(withinSeconds: 20) {
          let shown = try? await Self.status(id, token: token, port: secondPort)
          return shown?["state"]?.string == (isRename ? "parked" : "applied")
        }
        #expect(isThere)
      }
      let parked = try await Self.status(ids[0], token: token, port: secondPort)
      #expect(parked["reason"] == "operation_changed")
      #expect(try await second.terminate() == 0)

      try Self.deploy(Self.query + Self.rate + Self.rename, to: folder)
      let third = try await LarderProcess.serve(folder)
      let thirdPort = third.port
      for id in ids {
        let isApplied = await Moment.comes(withinSeconds: 20) {
          let shown = try? await Self.status(id, token: token, port: thirdPort)
          return shown?["state"] == "applied"
        }
        #expect(isApplied)
      }
      #expect(try await third.terminate() == 0)
      await demo.stop()
    }
  }
}
