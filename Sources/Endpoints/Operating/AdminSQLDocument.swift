import Gateway
import LosslessJSON
import Model

/// `POST /v1/admin/sql`: `{"sql", "args"?, "limit"?}` in, columns and rows out.
enum AdminSQLDocument {
  struct Question {
    let sql: String
    let arguments: SQLArguments
    let rowsMax: Int
  }

  private static let memberNames = ["sql", "args", "limit"]

  static func question(_ bytes: [UInt8]) throws(Failure) -> Question {
    let body = try AdminDocument.object(bytes)
    var faults = AdminDocument.unknownMembers(of: body, known: memberNames)
    let sql = body["sql"]?.string
    if sql == nil { faults.append(AdminDocument.fault("/sql", "is a statement")) }
    let arguments = arguments(body["args"], &faults)
    var rowsMax = SQLConsole.rowsMaxByDefault
    if let limit = body["limit"] {
      if let count = limit.int64, 1...Int64(SQLConsole.rowsMax) ~= count {
        rowsMax = Int(count)
      } else {
        faults.append(
          AdminDocument.fault("/limit", "is a whole number from 1 to \(SQLConsole.rowsMax)"))
      }
    }
    guard let sql, faults.isEmpty else {
      throw Failure(.malformedRequest, "The question cannot be read.", details: faults)
    }
    return Question(sql: sql, arguments: arguments, rowsMax: rowsMax)
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
      faults.append(AdminDocument.fault("/args", "is a list, or an object of names"))
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
    faults.append(AdminDocument.fault(place, "is a text, a number, a truth value or null"))
    return .null
  }

  /// Blobs are shown as `{"blob": <base64url>}`, and infinities, which JSON has not, as texts.
  static func bytes(_ answer: SQLResult) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("columns")
    writer.value(.array(answer.columns.map(JSONValue.string)))
    writer.name("rows")
    writer.beginArray()
    for row in answer.rows {
      writer.beginArray()
      for value in row { write(value, to: &writer) }
      writer.endArray()
    }
    writer.endArray()
    writer.name("truncated")
    writer.bool(answer.isTruncated)
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
