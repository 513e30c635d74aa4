import Gateway
import HTTPServer
import HTTPTypes
import Logging
import LosslessJSON
import Model

/// `/v1/admin/sql`, `/v1/admin/log-level`, `/v1/admin/backup` and `/v1/admin/backups`.
struct MaintenanceEndpoint: Sendable {
  /// The newest backups that are listed.
  private static let backupsMax = 1_000

  let context: EndpointContext
  let console: SQLConsole
  let backups: BackupFolder
  let threshold: LogThreshold

  func sql(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let query = try AdminSQLDocument.query(try await context.json(of: request))
      let result = try await console.answer(
        query.sql, query.arguments, rowsMax: query.rowsMax)
      return .json(AdminSQLDocument.bytes(result))
    }
  }

  func showLogLevel(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      return logLevel()
    }
  }

  /// Sets the log level from the next line on, until the service ends.
  func setLogLevel(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let body = try ObjectBody.object(try await context.json(of: request))
      var faults = ObjectBody.unknownMembers(of: body, known: ["level"])
      let level = body["level"]?.string.flatMap { Logger.Level(rawValue: $0) }
      if level == nil {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        faults.append(ObjectBody.fault("/level", "must be one of \(names)"))
      }
      guard let level, faults.isEmpty else {
        throw Failure(.malformedRequest, "The log level request is invalid.", details: faults)
      }
      threshold.level = level
      context.logger.log(
        level: max(level, .notice), "the log level was set", metadata: ["level": "\(level)"])
      return logLevel()
    }
  }

  func backUp(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let body = try ObjectBody.object(try await context.json(of: request))
      var faults = ObjectBody.unknownMembers(of: body, known: ["name"])
      if let name = body["name"], name.string == nil {
        faults.append(ObjectBody.fault("/name", "must be a string"))
      }
      guard faults.isEmpty else {
        throw Failure(.malformedRequest, "The backup request is invalid.", details: faults)
      }
      let written = try await backups.write(name: body["name"]?.string)
      let response: JSONValue = [
        "name": .string(written.name), "file": .string(written.place),
      ]
      return .json(response.bytes, status: .created)
    }
  }

  func listBackups(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let items = await backups.backups().prefix(Self.backupsMax).map { backup -> JSONValue in
        [
          "name": .string(backup.name), "file": .string(backup.place),
          "bytes": .number(JSONNumber(backup.bytes)),
          "writtenAt": .number(JSONNumber(backup.written.milliseconds)),
          "encrypted": .bool(backup.isEncrypted),
        ]
      }
      let body: JSONValue = ["items": .array(items)]
      return .json(body.bytes)
    }
  }

  private func logLevel() -> ServerResponse {
    let body: JSONValue = ["level": .string(threshold.level.rawValue)]
    return .json(body.bytes)
  }
}

/// `POST /v1/admin/sql`: `{"sql", "args"?, "limit"?}` in, columns and rows out.
enum AdminSQLDocument {
  struct Query {
    let sql: String
    let arguments: SQLArguments
    let rowsMax: Int
  }

  private static let memberNames = ["sql", "args", "limit"]

  static func query(_ bytes: [UInt8]) throws(Failure) -> Query {
    let body = try ObjectBody.object(bytes)
    var faults = ObjectBody.unknownMembers(of: body, known: memberNames)
    let sql = body["sql"]?.string
    if sql == nil { faults.append(ObjectBody.fault("/sql", "must be a string with one statement")) }
    let arguments = arguments(body["args"], &faults)
    var rowsMax = SQLConsole.rowsMaxByDefault
    if let limit = body["limit"] {
      if let count = limit.int64, 1...Int64(SQLConsole.rowsMax) ~= count {
        rowsMax = Int(count)
      } else {
        faults.append(
          ObjectBody.fault("/limit", "must be an integer from 1 to \(SQLConsole.rowsMax)"))
      }
    }
    guard let sql, faults.isEmpty else {
      throw Failure(.malformedRequest, "The SQL request is invalid.", details: faults)
    }
    return Query(sql: sql, arguments: arguments, rowsMax: rowsMax)
  }

  private static func arguments(
    _ value: JSONValue?, _ faults: inout [Failure.Detail]
  ) -> SQLArguments {
    switch value {
    case nil, .null: return .positional([])
    case .array(let elements):
      return .positional(
        elements.enumerated().map { argument($0.element, at: "/args/\($0.offset)", &faults) })
    case .object(let members):
      var named: [String: SQLValue] = [:]
      for member in members {
        let place = "/args".appending(pointerMember: member.name)
        named[member.name] = argument(member.value, at: place, &faults)
      }
      return .named(named)
    default:
      faults.append(ObjectBody.fault("/args", "must be an array, or an object of named values"))
      return .positional([])
    }
  }

  private static func argument(
    _ value: JSONValue, at place: String, _ faults: inout [Failure.Detail]
  ) -> SQLValue {
    switch value {
    case .null: return .null
    case .bool(let truth): return .integer(truth ? 1 : 0)
    case .string(let text): return .text(text)
    case .number(let number):
      if let integer = number.int64 { return .integer(integer) }
      if let double = number.double { return .real(double) }
    case .array, .object: break
    }
    faults.append(ObjectBody.fault(place, "must be a string, a number, a boolean or null"))
    return .null
  }

  /// The result as JSON. Blobs are `{"blob": <base64url>}`; infinities, which JSON lacks, are strings.
  static func bytes(_ result: SQLResult) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("columns")
    writer.value(.array(result.columns.map(JSONValue.string)))
    writer.name("rows")
    writer.beginArray()
    for row in result.rows {
      writer.beginArray()
      for value in row { write(value, to: &writer) }
      writer.endArray()
    }
    writer.endArray()
    writer.name("truncated")
    writer.bool(result.isTruncated)
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ value: SQLValue, to writer: inout JSONWriter) {
    switch value {
    case .null: writer.null()
    case .integer(let number): writer.int(number)
    case .real(let number):
      if let number = JSONNumber(number) {
        writer.number(number)
      } else {
        writer.string("\(number)")
      }
    case .text(let text): writer.string(text)
    case .blob(let bytes): writer.value(["blob": .string(Base64URL.encode(bytes))])
    }
  }
}
