import Composition
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Notifications that push rules send about changes.
  struct PushRuleTests {
    private static let types = """
      type Message @local {
        id: ID!
        chat: String!
        sender: String
        text: String!
        recipientIds: [ID!]!
        isRead: Boolean
      }
      """

    /// - Parameter vendor: settings within `push`, the last of them.
    static func start(
      _ rules: String, vendor: String = "push:"
    ) async throws -> RunningLarder {
      return try await RunningLarder.start(
        settings: """
          \(vendor)
            rules:
          \(rules)
          """, localTypes: types)
    }

    private static let inserts = """
          - on: Message insert
            to: recipientIds
            chatId: chat
            heading: "{sender}"
            text: "{sender}: {text} {{}}"
      """

    /// - Parameter id: the message to change; nil creates another.
    static func message(
      _ larder: RunningLarder, _ device: (String, String), _ body: String,
      changing id: String? = nil
    ) async throws {
      let answer = try await larder.request(
        id == nil ? "POST" : "PATCH", "/v1/entities/Message" + (id.map { "/\($0)" } ?? ""),
        headers: [device], body: body)
      #expect([200, 201].contains(answer.status), "\(answer.text)")
    }

    /// Waits until the outbox holds this many notifications; oldest first.
    static func outbox(
      _ larder: RunningLarder, count: Int
    ) async throws -> [JSONValue] {
      try await eventually {
        let list = try await larder.get("/v1/admin/push/notifications", PushTests.admin)
        return Array((try JSONValue(parsing: list.body)["items"]?.array ?? []).reversed())
      } until: {
        $0.count >= count
      }
    }

    @Test("A new entity notifies the receivers that its rule names")
    func insertRuleNotifies() async throws {
      let larder = try await Self.start(Self.inserts)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await Self.message(
        larder, device,
        #"{"id":"m1","chat":"c7","sender":"Ada","text":"Hi","recipientIds":["u1","u2","u1"]}"#)
      let first = try #require(try await Self.outbox(larder, count: 1).first)
      #expect(first["text"] == "Ada: Hi {}")
      #expect(first["heading"] == "Ada")
      #expect(first["chatId"] == "c7")
      #expect(first["data"] == ["chatId": "c7", "type": "Message", "id": "m1"])
      #expect(first["origin"] == "rule")
      let id = try #require(first["id"]?.string)
      #expect(
        try await PushTests.settled(id, larder)["states"] == ["u1": "sent", "u2": "sent"])
      // The rule ignores updates, and entities without receivers.
      try await Self.message(larder, device, #"{"text":"Hello"}"#, changing: "m1")
      try await Self.message(
        larder, device, #"{"id":"m2","chat":"c7","text":"x","recipientIds":[]}"#)
      try await Self.message(
        larder, device, #"{"id":"m3","chat":"c7","text":"x","recipientIds":["u3"]}"#)
      let all = try await Self.outbox(larder, count: 2)
      #expect(all.compactMap { $0["data"]?["id"] } == ["m1", "m3"])
      await larder.stop()
    }

    /// The writes do not wait for notifications, so several commits are often read together.
    @Test("An update notifies only if it changes a field that the rule's text uses")
    func updateRuleNeedsARelevantChange() async throws {
      let larder = try await Self.start(
        """
            - {on: Message update, to: recipientIds, text: "{text}"}
        """)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      for id in ["m1", "m2", "m3", "m4"] {
        try await Self.message(
          larder, device,
          #"{"id":"\#(id)","chat":"c","text":"one","recipientIds":["u"]}"#)
        try await Self.message(larder, device, #"{"isRead":true}"#, changing: id)
        try await Self.message(larder, device, #"{"text":"two"}"#, changing: id)
        try await Self.message(larder, device, #"{"text":"two","isRead":false}"#, changing: id)
        try await Self.message(larder, device, #"{"text":"one"}"#, changing: id)
      }
      let told = try await Self.outbox(larder, count: 8)
      #expect(
        told.compactMap { $0["data"]?["id"]?.string }
          == ["m1", "m1", "m2", "m2", "m3", "m3", "m4", "m4"])
      #expect(told.compactMap { $0["text"] } == (0..<4).flatMap { _ in ["two", "one"] })
      await larder.stop()
    }

    private static let both = """
          - {on: Message insert, to: recipientIds, text: "new: {text}"}
          - {on: Message update, to: recipientIds, text: "changed: {text}"}
      """

    /// - Parameter operations: the operations of one transaction.
    private static func write(
      _ larder: RunningLarder, _ device: (String, String), _ operations: String...
    ) async throws {
      let answer = try await larder.request(
        "POST", "/v1/entities", headers: [device], body: "[\(operations.joined(separator: ","))]")
      #expect(answer.status == 200, "\(answer.text)")
    }

    private static func insert(_ id: String, _ text: String) -> String {
      #"{"op":"insert","type":"Message","id":"\#(id)","#
        + #""data":{"chat":"c","text":"\#(text)","recipientIds":["u"]}}"#
    }

    private static func update(_ id: String, _ text: String) -> String {
      #"{"op":"update","type":"Message","id":"\#(id)","data":{"text":"\#(text)"}}"#
    }

    /// Notifies with the state after the commit.
    @Test("An entity that a commit writes several times notifies once")
    func entityNotifiesOncePerCommit() async throws {
      let larder = try await Self.start(Self.both)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await Self.write(
        larder, device, Self.insert("m1", "one"), Self.insert("m2", "one"),
        Self.update("m1", "two"), Self.update("m1", "three"))
      let first = try await Self.outbox(larder, count: 2)
      #expect(
        Set(first.compactMap { $0["text"]?.string }) == ["new: three", "new: one"], "\(first)")
      try await Self.write(
        larder, device, Self.update("m1", "four"), Self.update("m2", "two"),
        Self.update("m1", "five"))
      let second = try await Self.outbox(larder, count: 4)
      #expect(
        Set(second.dropFirst(2).compactMap { $0["text"]?.string })
          == ["changed: five", "changed: two"])
      // The notifications of the earlier commits are all in the outbox by the time this one is.
      try await Self.write(larder, device, Self.insert("m3", "last"))
      let all = try await Self.outbox(larder, count: 5)
      #expect(all.count == 5, "\(all)")
      #expect(all.last?["text"] == "new: last")
      await larder.stop()
    }

    @Test("Changes notify once across restarts")
    func restartDoesNotRepeatNotifications() async throws {
      let larder = try await Self.start(Self.both)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      try await Self.write(larder, device, Self.insert("m1", "0"))
      for number in 1...12 {
        try await Self.write(larder, device, Self.update("m1", "\(number)"))
        if number.isMultiple(of: 4) {
          await larder.stopService()
          try await larder.startService()
        }
      }
      let told = try await Self.outbox(larder, count: 13).compactMap { $0["text"]?.string }
      #expect(told == ["new: 0"] + (1...12).map { "changed: \($0)" })
      await larder.stop()
    }

    @Test("A restart neither loses nor repeats a notification")
    func restartLosesNoNotification() async throws {
      let larder = try await Self.start(Self.inserts)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      for number in 0..<20 {
        try await Self.message(
          larder, device,
          #"{"id":"m\#(number)","chat":"c","text":"x","recipientIds":["u\#(number)"]}"#)
        if number.isMultiple(of: 5) {
          await larder.stopService()
          try await larder.startService()
        }
      }
      let told = try await Self.outbox(larder, count: 20)
      #expect(
        told.compactMap { $0["data"]?["id"]?.string }.sorted()
          == (0..<20).map { "m\($0)" }.sorted())
      await larder.stop()
    }

    /// A film is new when it is first fetched; other callers' copies and refreshes are not new.
    @Test("An entity fetched from upstream notifies once")
    func fetchedEntityNotifiesOnce() async throws {
      let larder = try await Self.start(
        """
            - {on: Film insert, to: director, text: "{title}"}
        """)
      _ = try await larder.get("/api/films/f1")
      let first = try #require(try await Self.outbox(larder, count: 1).first)
      #expect(first["data"]?["id"] == "f1")
      let count = try await Self.outbox(larder, count: 1).count
      _ = try await larder.get("/api/films/f1", ("Authorization", "Bearer user-ada"))
      _ = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache"))
      _ = try await larder.get("/api/films/f2")
      let later = try await Self.outbox(larder, count: count + 1)
      let ids = later.compactMap { $0["data"]?["id"]?.string }
      #expect(ids.filter { $0 == "f1" }.count == 1)
      #expect(ids.contains("f2"))
      await larder.stop()
    }

    @Test("Rules that match no operation are refused at start")
    func invalidRulesAreRefused() async throws {
      let error = await #expect(throws: StartFailure.self) {
        try await Self.start(
          """
              - {on: Mesage insert, to: recipientIds, text: x}
              - {on: Message insert, to: receivers, chatId: recipientIds, text: "{body}"}
          """)
      }
      let text = "\(String(describing: error))"
      for fault in [
        "no operation selects the type Mesage.",
        "no operation selects the field receivers of Message.",
        "the field recipientIds of Message is a list",
        "no operation selects the field body of Message.",
      ] {
        #expect(text.contains(fault), "\(text)")
      }
    }
  }
}
