import LosslessJSON
import OneSignalDouble
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// A full disk: a notification that is not on disk is not acknowledged, and a delivery by the sender is not
  /// forgotten.
  struct PushStorageTests {
    /// Unknown ids, so many that recording them takes more room than any notification here.
    private static let strangers = (0..<1_500).map {
      "nobody-whose-name-is-so-long-that-it-fills-pages-\($0)"
    }

    private struct Taken: Sendable {
      let key: String
      let id: String
    }

    private struct Refused: Sendable {
      let key: String
      let status: Int
      let body: JSONValue
      let retryAfter: String?
    }

    /// Uses up the room that the log has left, while the vendor holds its response to the first batch.
    private final class Filling: Sendable {
      private struct State {
        var port = 0
        var isOver = false
        var taken: [Taken] = []
        var refused: [Refused] = []
      }

      let disk: SmallDisk
      private let state = Mutex(State())

      init(_ disk: SmallDisk) { self.disk = disk }

      var isOver: Bool { state.withLock { $0.isOver } }
      var taken: [Taken] { state.withLock { $0.taken } }
      var refused: [Refused] { state.withLock { $0.refused } }

      func aim(at port: Int) { state.withLock { $0.port = port } }

      func fill() {
        let port = state.withLock { $0.port }
        guard port != 0, !isOver else { return }
        try? disk.fill()
        for number in 0..<300 where refused.count < 3 {
          let key = "filling-\(number)"
          guard let answer = try? PushStorageTests.send(key, to: ["u1"], port: port),
            let body = try? JSONValue(parsing: answer.body)
          else { break }
          state.withLock { state in
            if answer.status == 202 {
              state.taken.append(Taken(key: key, id: body["id"]?.string ?? ""))
            } else {
              state.refused.append(
                Refused(
                  key: key, status: answer.status, body: body, retryAfter: answer["retry-after"]))
            }
          }
        }
        state.withLock { $0.isOver = true }
      }
    }

    /// - Parameter isKilled: whether the service ends before there is room again, so that only the vendor
    ///   knows that it has accepted the batch.
    @Test(
      "A full disk refuses notifications and forgets none that was sent",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"),
      arguments: [false, true])
    func fullDiskForgetsNoNotification(isKilled: Bool) async throws {
      let filling = Filling(try SmallDisk())
      let vendor = try await OneSignalServer(FakeOneSignal(.current)) { request in
        if request == "POST /notifications" { filling.fill() }
      }
      vendor.app.know(["u1"])
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, data: "\(filling.disk.path)/data",
        settings: PushKillTests.settings(of: vendor))
      var larder = try await LarderProcess.serve(folder)
      let port = larder.port
      filling.aim(at: port)
      let answer = try await onOwnThread {
        try Self.send("first", to: ["u1"] + Self.strangers, port: port)
      }
      #expect(answer.status == 202, "\(answer.text)")
      let first = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
      let isRefused = await Moment.comes(withinSeconds: 30) { filling.isOver }
      #expect(isRefused)
      let isTold = await Moment.comes(withinSeconds: 10) {
        larder.errors.contains("the outbox could not be read or written")
      }
      #expect(isTold, "\(larder.errors)")
      let before = try await Self.states(first, port: port)
      #expect(before["u1"] == "queued", "\(before)")
      Self.expectRefusals(filling.refused)
      #expect(vendor.app.notifications.count == 1)

      if isKilled { await larder.kill() }
      try filling.disk.free()
      if isKilled { larder = try await LarderProcess.serve(folder) }
      try await Self.expectAllSent(first, filling, vendor, larder)
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      await vendor.stop()
    }

    private static func expectRefusals(_ refused: [Refused]) {
      #expect(refused.count == 3, "the disk is not full")
      for answer in refused {
        #expect(answer.status == 503, "\(answer.body)")
        #expect(answer.body["code"] == "storage_unavailable")
        #expect(answer.body["retry"] == "same-key")
        #expect(answer.retryAfter != nil)
      }
    }

    /// Expects each notification to be sent once, including the refused ones when they are enqueued again.
    private static func expectAllSent(
      _ first: String, _ filling: Filling, _ vendor: OneSignalServer, _ larder: LarderProcess
    ) async throws {
      let port = larder.port
      let isReady = await Moment.comes(withinSeconds: 20) {
        try await onOwnThread { try RawClient(port: port).request("GET", "/readyz") }.status == 200
      }
      #expect(isReady, "\(larder.errors)")
      var ids = [first] + filling.taken.map(\.id)
      for refused in filling.refused {
        let again = try await onOwnThread { try send(refused.key, to: ["u1"], port: port) }
        #expect(again.status == 202 && again["idempotency-replayed"] == nil, "\(again.text)")
        ids.append(try JSONValue(parsing: again.body)["id"]?.string ?? "")
      }
      for id in ids {
        let isSent = await Moment.comes(withinSeconds: 30) {
          try await states(id, port: port)["u1"] == "sent"
        }
        #expect(isSent, "\(id) \(larder.errors)")
      }
      #expect(try await states(first, port: port)[strangers[0]] == "invalid")
      let sent = vendor.app.notifications.values.compactMap { $0["data"]?["chatId"]?.string }
      let keys = ["first"] + (filling.taken.map(\.key) + filling.refused.map(\.key))
      #expect(sent.sorted() == keys.sorted())
    }

    private static func states(_ id: String, port: Int) async throws -> JSONValue {
      let answer = try await onOwnThread {
        try RawClient(port: port).request(
          "GET", "/v1/push/notifications/\(id)", headers: [PushKillTests.bearer])
      }
      return try JSONValue(parsing: answer.body)["states"] ?? .null
    }

    private static func send(
      _ key: String, to users: [String], port: Int
    ) throws -> RawResponse {
      let body: JSONValue = [
        "chatId": .string(key), "userIds": .array(users.map { .string($0) }), "text": "Hello",
      ]
      return try RawClient(port: port).request(
        "POST", "/v1/push/notifications",
        headers: [
          PushKillTests.bearer, ("Idempotency-Key", key), ("Content-Type", "application/json"),
        ], body: String(decoding: body.bytes, as: UTF8.self))
    }
  }
}
