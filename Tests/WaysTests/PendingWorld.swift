import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

/// A running Larder with films and two devices; the queue of the first is paused, so that its optimistic
/// updates stay pending.
struct PendingWorld {
  /// The caller of a read.
  enum Reader: CaseIterable {
    case mine, other, anonymous
  }

  static let temporary = "~01ARZ3NDEKTSV4RRFFQ69G5FAV"
  private static let ada = ("Authorization", "Bearer user-ada")

  let larder: RunningLarder
  private let device: (String, String)
  private let otherDevice: (String, String)

  static func start(localTypes: String? = nil) async throws -> PendingWorld {
    let larder = try await RunningLarder.start(
      settings: """
        types:
          Film:
            search: [title, synopsis]
        queue: {probe: 1s}
        """, localTypes: localTypes)
    let world = PendingWorld(
      larder: larder, device: ("Device-Token", try await Ways.DeviceTests.register(larder).token),
      otherDevice: ("Device-Token", try await Ways.DeviceTests.register(larder).token))
    for target in ["/api/films?limit=20", "/api/films/f1"] {
      #expect(try await larder.get(target).status == 200)
    }
    _ = try await larder.request("POST", "/v1/queue/pause", headers: [world.device])
    return world
  }

  func stop() async { await larder.stop() }

  func headers(of reader: Reader) -> [(String, String)] {
    switch reader {
    case .mine: [device, Self.ada]
    case .other: [otherDevice, Self.ada]
    case .anonymous: []
    }
  }

  // MARK: Reads

  func get(
    _ target: String, as reader: Reader, _ more: (String, String)...
  ) async throws -> RawResponse {
    try await larder.request("GET", target, headers: headers(of: reader) + more)
  }

  func post(_ target: String) async throws -> RawResponse {
    try await larder.request("POST", target, headers: headers(of: .mine))
  }

  func json(_ target: String, as reader: Reader) async throws -> JSONValue {
    let answer = try await get(target, as: reader)
    #expect(answer.status == 200, "\(target): \(answer.text)")
    return try JSONValue(parsing: answer.body)
  }

  /// The members of an operation's list.
  func films(_ target: String, as reader: Reader) async throws -> [JSONValue] {
    try #require(try await json(target, as: reader)["data"]?["films"]?.array)
  }

  /// The items of a collection, a relationship or a search.
  func items(_ target: String, as reader: Reader) async throws -> [JSONValue] {
    try #require(try await json(target, as: reader)["items"]?.array)
  }

  func ids(_ target: String, as reader: Reader) async throws -> [String] {
    try await items(target, as: reader).compactMap { $0["id"]?.string }
  }

  func events(_ target: String, as reader: Reader) async throws -> EventClient {
    try await EventClient.open(port: larder.port, target, headers: headers(of: reader))
  }

  // MARK: Queue

  /// - Returns: the mutation's id.
  func enqueueTitle(_ title: String, of film: String) async throws -> String {
    try await enqueueUpdate(film, #"{"title":"\#(title)"}"#, patch: #"{"title":"\#(title)"}"#)
  }

  func enqueueUpdate(_ film: String, _ fields: String, patch: String) async throws -> String {
    try await enqueue(
      """
      {"operation":"UpdateFilm","mode":"steady","variables":{"id":"\(film)","patch":\(patch)},\
      "optimistic":[{"op":"merge","type":"Film","id":"\(film)","fields":\(fields)}]}
      """)
  }

  func enqueueDeletion(of film: String) async throws -> String {
    try await enqueue(
      """
      {"operation":"DeleteFilm","mode":"steady","variables":{"id":"\(film)"},\
      "optimistic":[{"op":"delete","type":"Film","id":"\(film)"}]}
      """)
  }

  func enqueueCreation(_ id: String, titled title: String) async throws -> String {
    try await enqueue(
      """
      {"operation":"CreateFilm","mode":"steady",\
      "variables":{"input":{"title":"\(title)","year":1999,"country":"FR"}},\
      "optimistic":[{"op":"create","type":"Film","id":"\(id)",\
      "fields":{"title":"\(title)","year":1999,"country":"FR"}}]}
      """)
  }

  private func enqueue(_ body: String) async throws -> String {
    let key = ("Idempotency-Key", "k\(UInt64.random(in: .min ... .max))")
    let answer = try await larder.request(
      "POST", "/v1/mutations", headers: headers(of: .mine) + [key], body: body)
    #expect(answer.status == 202, "\(answer.text)")
    return try #require(try JSONValue(parsing: answer.body)["id"]?.string)
  }

  func takeBack(_ mutation: String) async throws {
    let answer = try await larder.request(
      "DELETE", "/v1/mutations/\(mutation)", headers: headers(of: .mine))
    #expect(answer.status == 200, "\(answer.text)")
  }

  /// Resumes the queue.
  ///
  /// - Returns: the state in which the mutation ends.
  func settled(_ mutation: String) async throws -> String? {
    _ = try await post("/v1/queue/resume")
    let answer = try await get("/v1/mutations/\(mutation)?wait=10", as: .mine)
    return try JSONValue(parsing: answer.body)["state"]?.string
  }
}
