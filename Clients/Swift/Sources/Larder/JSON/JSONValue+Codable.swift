import Foundation

extension JSONValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .number(JSONNumber(value))
    } else if let value = try? container.decode(Decimal.self) {
      self = .number(JSONNumber(digits: "\(value)"))
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value):
      if let integer = Int64(value.digits) {
        try container.encode(integer)
      } else {
        try container.encode(Decimal(string: value.digits) ?? Decimal(value.double))
      }
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSONValue {
  /// A value that can be encoded, as JSON. Dates have three fraction digits, in UTC.
  ///
  /// - Throws: ``LarderError/invalidArgument(_:)``.
  public init(encoding value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(.iso8601Milliseconds))
    }
    let data: Data
    do {
      data = try encoder.encode(value)
    } catch {
      throw LarderError.invalidArgument("\(type(of: value)) cannot be JSON: \(error)")
    }
    self = try JSONValue(parsing: data)
  }

  /// The value of a type that generated code has.
  ///
  /// - Throws: ``LarderError/unexpectedContent(_:)``.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    do {
      return try Self.decoder.decode(type, from: data)
    } catch {
      throw LarderError.unexpectedContent("The JSON is no \(type): \(error)")
    }
  }

  /// A decoder of the texts that Larder sends.
  static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      if let date = try? Date(text, strategy: .iso8601Milliseconds) { return date }
      if let date = try? Date(text, strategy: .iso8601) { return date }
      if let date = try? Date(text, strategy: .iso8601.year().month().day()) { return date }
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is no date of RFC 3339.")
    }
    return decoder
  }
}

extension FormatStyle where Self == Date.ISO8601FormatStyle {
  static var iso8601Milliseconds: Date.ISO8601FormatStyle {
    Date.ISO8601FormatStyle(includingFractionalSeconds: true)
  }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
  static var iso8601Milliseconds: Date.ISO8601FormatStyle {
    Date.ISO8601FormatStyle(includingFractionalSeconds: true)
  }
}
