import HTTPTypes
import TestSupport
import Testing
import Transport

@testable import HTTPClient

/// A scripted server and a client that talks to it, for the length of a test.
struct ClientSetting: Sendable {
  let client: HTTPClient
  let server: ScriptedServer
  let origin: Origin
  let group: EventLoopGroup

  static func run(
    _ script: @escaping ScriptedServer.Script,
    settings change: (inout HTTPClientSettings) -> Void = { _ in },
    body: (ClientSetting) async throws -> Void
  ) async throws {
    let group = try EventLoopGroup(count: 2)
    var settings = HTTPClientSettings()
    settings.breaker.consecutiveFailuresMax = .max
    settings.breaker.failureRateMax = 2
    change(&settings)
    let server = ScriptedServer(script)
    let client = HTTPClient(group: group, settings: settings, random: { 0.5 })
    do {
      let address = try await server.start(on: group)
      let origin = Origin(
        scheme: .http, endpoint: .host("127.0.0.1", port: address.port ?? 0))
      try await body(
        ClientSetting(client: client, server: server, origin: origin, group: group))
    } catch {
      await group.shutdown()
      throw error
    }
    await client.close()
    await group.shutdown()
  }

  func request(
    _ target: String = "/", method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
    body: [UInt8] = [], isSafeToRepeat: Bool? = nil, responseBytesMax: Int = 1 << 20
  ) -> HTTPClientRequest {
    HTTPClientRequest(
      method: method, url: HTTPURL(origin: origin, target: target), fields: fields, body: body,
      isSafeToRepeat: isSafeToRepeat, responseBytesMax: responseBytesMax)
  }

  /// The response's body as text.
  @discardableResult
  func get(_ target: String = "/", within limit: Duration = .seconds(5)) async throws -> String {
    let response = try await client.execute(request(target), within: limit)
    return String(decoding: response.body, as: UTF8.self)
  }

  /// The error a request ends with, nil if it gets a response.
  func failure(
    _ request: HTTPClientRequest? = nil, within limit: Duration = .seconds(5)
  ) async -> HTTPClientError? {
    do throws(HTTPClientError) {
      _ = try await client.execute(request ?? self.request(), within: limit)
      return nil
    } catch {
      return error
    }
  }
}
