import HTTPTypes
import TestSupport
import Testing
import Transport

@testable import HTTPClient

struct HTTPClientTests {
  @Test("The request is sent with its fields and body")
  func sendsTheRequest() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      let answer = try await setting.client.execute(
        setting.request(
          "/graphql?a=b", method: .post, fields: [.contentType: "application/json"],
          body: Array("{}".utf8)))
      #expect(answer.status == .ok)
      #expect(String(decoding: answer.body, as: UTF8.self) == "hello")
      let seen = try #require(setting.server.requests.first)
      #expect(seen.head.hasPrefix("POST /graphql?a=b HTTP/1.1\r\n"))
      #expect(seen.field("content-type") == "application/json")
      #expect(seen.field("content-length") == "2")
      #expect(seen.field("host") == setting.origin.authority)
      #expect(seen.field("accept-encoding") == "gzip, deflate")
      #expect(seen.body == Array("{}".utf8))
    }
  }

  @Test("A POST without a body has a Content-Length and a GET does not")
  func emptyPostHasContentLengthAndGetDoesNot() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      _ = try await setting.client.execute(setting.request(method: .post))
      _ = try await setting.client.execute(setting.request(method: .get))
      #expect(setting.server.requests.map { $0.field("content-length") } == ["0", nil])
    }
  }

  @Test(
    "Fields that the client sets itself are refused",
    arguments: ["Host", "content-length", "Transfer-Encoding", "Connection", "Keep-Alive"])
  func refusesFieldsSetByTheClient(name: String) async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      var fields = HTTPFields()
      fields[try #require(HTTPField.Name(name))] = "5"
      let failure = await setting.failure(setting.request(fields: fields))
      guard case .invalidRequest? = failure else {
        Issue.record("not refused: \(String(describing: failure))")
        return
      }
      #expect(setting.server.connectionCount == 0)
    }
  }

  @Test(
    "Malformed targets are refused",
    arguments: ["no-slash", "/a b", "/a\r\nX: y"])
  func refusesMalformedTargets(target: String) async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      #expect(await setting.failure(setting.request(target)) == .invalidRequest("target"))
    }
  }

  @Test("An upload larger than the socket's buffer is sent")
  func uploadsMoreThanASocketHolds() async throws {
    try await ClientSetting.run {
      .ok("\($0.body.count)")
    } body: { setting in
      let answer = try await setting.client.execute(
        setting.request(method: .put, body: [UInt8](repeating: 7, count: 3_000_000)))
      #expect(String(decoding: answer.body, as: UTF8.self) == "3000000")
    }
  }

  @Test("A connection is reused")
  func reusesAConnection() async throws {
    try await ClientSetting.run {
      .ok("\($0.connection).\($0.index)")
    } body: { setting in
      let first = try await setting.get()
      #expect(first == "1.0")
      let second = try await setting.get()
      #expect(second == "1.1")
      let third = try await setting.get()
      #expect(third == "1.2")
    }
  }

  @Test(
    "A suspicious connection is not reused",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ])
  func doesNotReuseASuspiciousConnection(reply: String) async throws {
    try await ClientSetting.run { _ in
      .keep(reply)
    } body: { setting in
      let first = try await setting.get()
      #expect(first == "ok")
      let second = try await setting.get()
      #expect(second == "ok")
      #expect(setting.server.connectionCount == 2)
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }

  @Test("Bytes on an idle connection close it")
  func bytesOnAnIdleConnectionEndIt() async throws {
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
    try await ClientSetting.run { _ in
      .late(answer, answer)
    } body: { setting in
      try await setting.get()
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
      try await setting.get()
      #expect(setting.server.connectionCount == 2)
    }
  }

  @Test("An unused connection is closed after the idle timeout")
  func unusedConnectionIsClosedInTime() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } settings: {
      $0.idleTimeout = .milliseconds(30)
    } body: { setting in
      try await setting.get()
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
      try await setting.get()
      #expect(setting.server.connectionCount == 2)
    }
  }

  @Test("A shorter timeout in Keep-Alive is respected")
  func respectsAShorterKeepAliveTimeout() async throws {
    try await ClientSetting.run { _ in
      .ok(fields: "Keep-Alive: timeout=1\r\n")
    } body: { setting in
      try await setting.get()
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }

  @Test("Requests work over a Unix socket")
  func speaksOverAUnixSocket() async throws {
    let folder = try TestFolder("client")
    defer { folder.remove() }
    let path = "\(folder.path)/socket"
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      let server = ScriptedServer { _ in .ok("by path") }
      _ = try await server.start(on: setting.group, endpoint: .unix(path: path))
      let url = try HTTPURL("http+unix://\(path.replacing("/", with: "%2F"))/x")
      let answer = try await setting.client.execute(HTTPClientRequest(method: .get, url: url))
      #expect(String(decoding: answer.body, as: UTF8.self) == "by path")
      #expect(server.requests.first?.field("host") == "localhost")
    }
  }

  @Test("With one connection allowed, requests are served in turn")
  func servesRequestsInTurnOnOneConnection() async throws {
    try await ClientSetting.run {
      .ok("\($0.connection)")
    } settings: {
      $0.connectionsMax = 1
    } body: { setting in
      try await withThrowingTaskGroup(of: String.self) { tasks in
        for _ in 0..<50 { tasks.addTask { try await setting.get() } }
        for try await body in tasks { #expect(body == "1") }
      }
      #expect(setting.server.requests.count == 50)
    }
  }

  @Test("No more connections are opened than allowed")
  func opensNoMoreConnectionsThanAllowed() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } settings: {
      $0.connectionsMax = 4
    } body: { setting in
      try await withThrowingTaskGroup(of: String.self) { tasks in
        for _ in 0..<200 { tasks.addTask { try await setting.get() } }
        try await tasks.waitForAll()
      }
      #expect(setting.server.connectionCount <= 4)
      #expect(setting.server.requests.count == 200)
    }
  }
}
