import HTTPClient
import LosslessJSON
import Model
import OneSignalDouble
import Testing

@testable import Gateway

/// The OneSignal sender against a fake application that refuses what the real one would.
struct OneSignalSenderTests {
  private static let key = "3f1d0a52-9c1b-4d5e-8a6f-1b2c3d4e5f60"

  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private static let clock = WallClock { Timestamp(milliseconds: 784_111_777_000) }

  private static func sender(
    _ app: FakeOneSignal, key: String? = nil, as form: OneSignalForm? = nil,
    appID: String = FakeOneSignal.appID
  ) -> OneSignalSender {
    OneSignalSender(
      OneSignalSettings(
        api: OneSignalAPI(form ?? app.form), url: "http://onesignal.test\(app.pathPrefix)/",
        appID: appID, key: key ?? app.key), clock: clock
    ) { request, limit throws(HTTPClientError) in try await app.send(request, within: limit) }
  }

  private static func batch(_ userIDs: [String], heading: String? = "Ada") -> PushBatch {
    PushBatch(
      key: key,
      message: PushMessage(
        text: "Hello", heading: heading, chatID: "c1", data: [JSONMember("kind", "greeting")]),
      userIDs: userIDs)
  }

  @Test("The conversation reaches the device as data", arguments: OneSignalForm.allCases)
  func conversationReachesDevice(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    let sender = Self.sender(app)
    for user in ["u1", "u2"] {
      let id = try await sender.register(
        PushDevice(userID: user, platform: "iOS", token: "token of \(user)"))
      #expect(id != nil)
    }
    let receipt = try await sender.send(Self.batch(["u1", "u2"]))
    #expect(receipt.remoteID != nil)
    #expect(receipt.invalidIDs == [])
    #expect(!receipt.reachedNoDevice)
    #expect(app.deliveries.map(\.token) == ["token of u1", "token of u2"])
    for delivery in app.deliveries {
      #expect(delivery.payload["custom"]?["a"] == ["chatId": "c1", "kind": "greeting"])
    }
  }

  @Test("A repeated batch is not delivered twice", arguments: OneSignalForm.allCases)
  func repeatedBatchIsNotDeliveredTwice(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    let sender = Self.sender(app)
    _ = try await sender.register(PushDevice(userID: "u1", platform: "android", token: "t"))
    app.isLosingAnswers = true
    await #expect(throws: PushFault.unknown(reason: "the connection ended before a response")) {
      try await sender.send(Self.batch(["u1"]))
    }
    app.isLosingAnswers = false
    let receipt = try await sender.send(Self.batch(["u1"]))
    #expect(receipt.remoteID != nil)
    #expect(app.deliveries.count == 1)
  }

  @Test("Unknown user ids are reported", arguments: OneSignalForm.allCases)
  func unknownIDsAreReported(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    app.know(["u1", "u3"])
    let sender = Self.sender(app)
    let receipt = try await sender.send(Self.batch(["u1", "u2", "u3", "u4"], heading: nil))
    #expect(receipt.invalidIDs == ["u2", "u4"])
    #expect(!receipt.reachedNoDevice)
  }

  @Test("A response without an id means that nothing was sent", arguments: OneSignalForm.allCases)
  func responseWithoutID(_ form: OneSignalForm) async throws {
    let receipt = try await Self.sender(FakeOneSignal(form)).send(Self.batch(["u1"]))
    #expect(receipt == PushReceipt(remoteID: nil, reachedNoDevice: true))
  }

  @Test("A call accepts the maximum number of ids and no more", arguments: OneSignalForm.allCases)
  func idLimit(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    let sender = Self.sender(app)
    let ids = (0..<sender.userIDsMax).map { "u\($0)" }
    app.know(ids)
    #expect(try await sender.send(Self.batch(ids)).remoteID != nil)
    await #expect(throws: PushFault.self) { try await sender.send(Self.batch(ids + ["more"])) }
  }

  /// A key of one API is not valid for the other.
  @Test("A rejected key is reported as rejected credentials", arguments: OneSignalForm.allCases)
  func rejectedKey(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    for sender in [
      Self.sender(app, key: "wrong"), Self.sender(app, as: form == .current ? .legacy : .current),
    ] {
      let fault = await #expect(throws: PushFault.self) {
        try await sender.send(Self.batch(["u1"]))
      }
      guard case .credentialsRefused(let reason) = fault else {
        Issue.record("\(String(describing: fault))")
        continue
      }
      #expect(!reason.contains("wrong"))
    }
  }

  @Test(
    "Refusals are classified by status, body and Retry-After",
    arguments: [
      (429, #"{"errors":["API rate limit exceeded"]}"#, "7", "transient 7"),
      (429, "", "Sun, 06 Nov 1994 08:51:07 GMT", "transient 90"),
      (503, "", "Sunday, 06-Nov-94 08:49:38 GMT", "transient 1"),
      (503, "", "Sun Nov  6 08:49:00 1994", "transient 0"),
      (429, "", "-7", "transient"), (429, "", "soon", "transient"),
      (503, "", nil, "transient"), (500, "<html>", nil, "transient"),
      (408, "", nil, "transient"), (400, #"{"errors":["bad field"]}"#, nil, "permanent"),
      (400, #"{"errors":["Please include an Authorization header"]}"#, nil, "credentials"),
      (401, #"{"errors":[{"code":"auth-1","title":"Unauthorized"}]}"#, nil, "credentials"),
      (403, #"{"errors":["Access denied."]}"#, nil, "credentials"),
      (409, #"{"errors":[{"code":"user-2","title":"conflict"}]}"#, nil, "permanent"),
      (302, "", nil, "permanent"), (200, "<html>", nil, "unknown"),
    ] as [(Int, String, String?, String)])
  func refusalsAreClassified(
    status: Int, body: String, retryAfter: String?, kind: String
  ) async throws {
    let app = FakeOneSignal(.current)
    app.answerNext(status, body, retryAfter: retryAfter)
    let fault = await #expect(throws: PushFault.self) {
      try await Self.sender(app).send(Self.batch(["u1"]))
    }
    let found =
      switch fault {
      case .transient(let wait, _): "transient" + (wait.map { " \($0.wholeSeconds)" } ?? "")
      case .permanent: "permanent"
      case .credentialsRefused: "credentials"
      case .unknown: "unknown"
      case .notSent: "not sent"
      case nil: "nothing"
      }
    #expect(found == kind)
  }

  @Test("A failed connection is reported as not sent")
  func failedConnection() async throws {
    let settings = OneSignalSettings(api: .current, appID: FakeOneSignal.appID, key: "k")
    let sender = OneSignalSender(settings, clock: Self.clock) { _, _ throws(HTTPClientError) in
      throw .connectTimedOut
    }
    await #expect(throws: PushFault.notSent(reason: "the connection was not made in time")) {
      try await sender.send(Self.batch(["u1"]))
    }
  }

  // MARK: Probing

  @Test("A probe sends nothing", arguments: OneSignalForm.allCases)
  func probeSendsNothing(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    app.know(["u1"])
    try await Self.sender(app).probe()
    _ = try await Self.sender(app).send(Self.batch(["u1"]))
    try await Self.sender(app).probe()
    #expect(app.notifications.count == 1)
    #expect(app.requests.filter { $0.hasPrefix("POST") }.count == 1)
  }

  @Test("A probe distinguishes a wrong key, a wrong application and another service")
  func probeFaults() async throws {
    let app = FakeOneSignal(.current)
    let refused = await #expect(throws: PushFault.self) {
      try await Self.sender(app, key: "wrong").probe()
    }
    guard case .credentialsRefused = refused else { return #expect(refused == nil) }
    await #expect(throws: PushFault.permanent(reason: "status 400: app_id not found")) {
      try await Self.sender(app, appID: "of another").probe()
    }
    app.answerNext(200, #"{"hello":"world"}"#)
    await #expect(
      throws: PushFault.unknown(reason: "the response contains no list of notifications")
    ) { try await Self.sender(app).probe() }
  }

  // MARK: Devices

  @Test(
    "A device is bound to its latest user until unregistered", arguments: OneSignalForm.allCases)
  func deviceBinding(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    let sender = Self.sender(app)
    let ada = PushDevice(userID: "ada", platform: "ios", token: "t 1/ä")
    let id = try await sender.register(ada)
    #expect(app.owners == ["t 1/ä": "ada"])
    #expect(try await sender.register(ada) == id)
    let bob = PushDevice(userID: "bob", platform: "ios", token: "t 1/ä")
    #expect(try await sender.register(bob) == id)
    #expect(app.owners == ["t 1/ä": "bob"])
    try await sender.unregister(bob, remoteID: id)
    #expect(app.owners == [:])
    // Already removed.
    try await sender.unregister(bob, remoteID: id)
  }

  /// If the response to its registration was lost.
  @Test("A device can be unregistered without its id", arguments: OneSignalForm.allCases)
  func unregisterWithoutID(_ form: OneSignalForm) async throws {
    let app = FakeOneSignal(form)
    let sender = Self.sender(app)
    let device = PushDevice(userID: "ada", platform: "web", token: "token")
    _ = try await sender.register(device)
    try await sender.unregister(device, remoteID: nil)
    #expect(app.owners == [:])
    _ = try await sender.register(device)
    #expect(app.owners == ["token": "ada"])
  }

  @Test("An unknown platform is refused without a request")
  func unknownPlatform() async throws {
    let app = FakeOneSignal(.current)
    await #expect(
      throws: PushFault.permanent(reason: "OneSignal does not support the platform toaster")
    ) {
      try await Self.sender(app).register(
        PushDevice(userID: "u", platform: "toaster", token: "t"))
    }
    #expect(app.requests == [])
  }
}

extension OneSignalAPI {
  fileprivate init(_ form: OneSignalForm) {
    switch form {
    case .current: self = .current
    case .legacy: self = .legacy
    }
  }
}
