import DemoUpstream
import Foundation
import HTTPWire
import LosslessJSON
import S3Wire
import TestSupport
import Testing

/// A running service with data of every kind, and a caller who may access all of it.
final class HostileWorld {
  let larder: RunningLarder
  private var device: (id: String, token: String) = ("", "")
  private var session: (String, String)?
  private var s3Key: (id: String, secret: String) = ("", "")
  private var users = 0

  private static let settings = """
    types:
      Film: {search: [title], index: [year]}
      Note: {search: [text], index: [whole], dates: seconds}
    limits: {requestsPerConnection: 1000000, connectionsPerAddress: 256}
    devices: {rate: 1000}
    accounts: {passwordCost: 10}
    files: {buckets: {open: {access: public-read}, own: {access: user}}}
    """

  private static let operations = [
    "reading": """
    query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 600, scope: PUBLIC) {
      film(id: $id) { id title year director { id name } }
    }
    query Films(
      $limit: Int = 20, $offset: Int, $filter: FilmFilter, $orderBy: [FilmOrder!]
    ) @route(path: "/films") @cache(maxAge: 600, scope: PUBLIC) {
      films(limit: $limit, offset: $offset, filter: $filter, orderBy: $orderBy) { id title year }
    }
    """,
    "writing": """
    mutation UpdateFilm($id: ID!, $patch: FilmPatch!) @route(path: "/films/{id}")
    @sync(object: "Film:$id") {
      updateFilm(id: $id, patch: $patch) { id title year }
    }
    """,
  ]

  private static let localTypes = """
    enum Colour { RED GREEN }
    type Book @local { id: ID! notes: [Note!]! @inverse(field: "book", onDelete: NULLIFY) }
    type Note @local {
      id: ID!
      text: String!
      book: Book @inverse(field: "notes")
      film: Film
      tiny: Int8
      whole: Int
      big: Int64
      share: Float
      ratio: Double
      due: Date
      days: [Date!]
      done: Boolean
      bytes: Data
      colour: Colour
      code: String @pattern(regex: "[A-Z]{2}[0-9]+")
    }
    """
  /// Members of bodies of local types, which no document names.
  static let fields = [
    "id", "text", "book", "film", "tiny", "whole", "big", "share", "ratio", "due", "days", "done",
    "bytes", "colour", "code", "notes",
  ]

  static func start() async throws -> HostileWorld {
    let larder = try await RunningLarder.start(
      settings: settings, operations: operations, localTypes: localTypes)
    let world = HostileWorld(larder)
    try await world.prepare()
    return world
  }

  private init(_ larder: RunningLarder) {
    self.larder = larder
  }

  private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

  private func prepare() async throws {
    try await admit()
    let key = try await larder.post("/v1/admin/s3/keys", "{}", Self.admin)
    let issued = try JSONValue(parsing: key.body)
    s3Key = (
      try #require(issued["accessKeyId"]?.string), try #require(issued["secretAccessKey"]?.string)
    )
    for target in ["/api/films", "/api/films/f1"] {
      #expect(try await larder.get(target).status == 200)
    }
    let file = try await larder.request(
      "PUT", "/v1/files/open/a.txt", headers: [Self.admin], body: "0123456789")
    #expect(file.status == 201, "\(file.text)")
    let note = try await larder.request(
      "PUT", "/v1/entities/Note/n1", headers: headers(for: "/v1/entities"),
      body: #"{"text":"film","whole":1,"due":1700000000}"#)
    #expect(note.status == 201, "\(note.text)")
  }

  /// Gives the caller a device and a session again if requests have ended its own.
  func admit() async throws {
    if try await larder.get("/v1/devices/me", ("Device-Token", device.token)).status != 200 {
      device = try await Ways.DeviceTests.register(larder)
    }
    let isSignedIn =
      if let session { try await larder.get("/v1/auth/me", session).status == 200 } else { false }
    if !isSignedIn {
      users += 1
      session = try await Ways.AccountTests.signUp(larder, "hostile\(users)").bearer
    }
  }

  /// The header fields that the caller sends to a path.
  func headers(for path: String) -> [(String, String)] {
    if path.hasPrefix("/s3") { return [] }
    let isOperators =
      path.hasPrefix("/v1/admin") || path.hasPrefix("/v1/files")
      || path.hasPrefix("/v1/push/notifications")
    return [("Device-Token", device.token), isOperators ? Self.admin : session].compactMap { $0 }
  }

  /// A value that names existing data.
  func good(_ name: String) -> String {
    switch name {
    case "bucket": "open"
    case "key": "a.txt"
    case "type": "Note"
    case "id": "n1"
    case "relationship": "book"
    case "device": device.id
    case "q": "film"
    case "filter": "whole > 0"
    case "from": "\"x\""
    default: "x"
    }
  }

  /// The fields that sign a request of the S3 dialect, with the request's own fields.
  func signed(
    _ method: String, _ path: String, query: [QueryString.Parameter],
    headers: [(String, String)], body: [UInt8]
  ) -> [(String, String)] {
    let now = HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970))
    let own = headers.filter { $0.0.hasPrefix("x-amz-") }
      .map { CanonicalRequest.Field($0.0, $0.1) }
    return RequestSigner(accessKey: s3Key.id, secretKey: s3Key.secret).fields(
      method: method, path: path, query: query, host: "localhost", fields: own,
      payload: PayloadHash(of: body), at: SignatureTime(now), region: "eu-west-1"
    ).map { ($0.name, $0.value) }
  }
}
