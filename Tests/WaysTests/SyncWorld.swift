import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

/// A running Larder and one device with a queue.
struct SyncWorld {
  static let ada = ("Authorization", "Bearer user-ada")

  /// A response of the queue.
  struct Answer: Sendable {
    let status: Int
    let body: JSONValue
    let isReplay: Bool

    var id: String { body["id"]?.string ?? "" }
    var code: String? { body["code"]?.string }

    init(_ response: RawResponse) throws {
      status = response.status
      body = response.body.isEmpty ? [:] : try JSONValue(parsing: response.body)
      isReplay = response["idempotency-replayed"] == "true"
    }
  }

  let larder: RunningLarder
  /// The header field with the device's token.
  let device: (String, String)
  let deviceID: String

  init(_ larder: RunningLarder) async throws {
    self.larder = larder
    let registered = try await Ways.DeviceTests.register(larder)
    deviceID = registered.id
    device = ("Device-Token", registered.token)
  }

  static func start(
    settings: String = "", operations: [String: String] = [:], schema: String? = nil,
    upstream: String? = nil, upstreamTimeout: String = "20s", localTypes: String? = nil
  ) async throws -> SyncWorld {
    try await SyncWorld(
      RunningLarder.start(
        settings: settings, operations: operations, upstreamTimeout: upstreamTimeout,
        upstream: upstream, schema: schema, localTypes: localTypes))
  }

  func stop() async { await larder.stop() }

  // MARK: Enqueueing

  static func rating(
    _ film: String, stars: Int = 4, mode: String = "lazy", more: String = ""
  ) -> String {
    """
    {"operation":"RateFilm","mode":"\(mode)","variables":{"id":"\(film)","stars":\(stars)}\(more)}
    """
  }

  static func renaming(_ film: String, _ title: String = "Mine", mode: String = "lazy") -> String {
    """
    {"operation":"UpdateFilm","mode":"\(mode)",\
    "variables":{"id":"\(film)","patch":{"title":"\(title)"}}}
    """
  }

  /// Enqueues mutations from any task.
  struct Client: Sendable {
    fileprivate let port: Int
    fileprivate let device: (String, String)

    func submit(
      _ body: String, key: String, as credential: (String, String) = ada
    ) async throws -> Answer {
      let fields = [
        device, credential, ("Idempotency-Key", key), ("Content-Type", "application/json"),
      ]
      return try Answer(
        try await onOwnThread { [port] in
          try RawClient(port: port).request("POST", "/v1/mutations", headers: fields, body: body)
        })
    }
  }

  var client: Client { Client(port: larder.port, device: device) }

  func submit(
    _ body: String, key: String, as credential: (String, String) = ada
  ) async throws -> Answer {
    try await client.submit(body, key: key, as: credential)
  }

  /// - Returns: the id of an accepted mutation.
  func enqueue(
    _ body: String, key: String, as credential: (String, String) = ada
  ) async throws -> String {
    let answer = try await submit(body, key: key, as: credential)
    #expect(answer.status == 202, "\(answer.body)")
    return answer.id
  }

  // MARK: State

  /// - Parameter wait: seconds to wait for the mutation's end.
  func mutation(_ id: String, wait: Int = 0) async throws -> JSONValue {
    try JSONValue(parsing: try await larder.get("/v1/mutations/\(id)?wait=\(wait)", device).body)
  }

  /// Polls until the mutation is in this state.
  func mutation(_ id: String, is state: String) async throws -> JSONValue {
    let last = try await eventually {
      try await self.mutation(id)
    } until: {
      $0["state"]?.string == state
    }
    #expect(last["state"]?.string == state, "\(last)")
    return last
  }

  func queue() async throws -> JSONValue {
    try JSONValue(parsing: try await larder.get("/v1/queue", device).body)
  }

  // MARK: Commands

  @discardableResult
  func command(_ target: String, method: String = "POST") async throws -> Answer {
    try Answer(try await larder.request(method, target, headers: [device]))
  }

  func pause() async throws { try await command("/v1/queue/pause") }
  func resume() async throws { try await command("/v1/queue/resume") }
}
