import LosslessJSON
import Model
import TestSupport

/// A random upstream that responds to any selection, and always returns the same value for a field
/// of an entity.
struct GeneratedWorld {
  let seed: UInt64
  /// One in this many values is an error; 0 for none.
  let errorOneIn: Int
  /// Whether there is white space between the response's tokens.
  let isSpaced: Bool
  private var errors: [String] = []
  private var path: [String] = []
  private var errorDice: SeededGenerator

  init(seed: UInt64, errorOneIn: Int = 0, isSpaced: Bool = false) {
    self.seed = seed
    self.errorOneIn = errorOneIn
    self.isSpaced = isSpaced
    errorDice = SeededGenerator(seed: seed &+ 1)
  }

  mutating func answer(_ selection: FieldSelection) -> String {
    errors = []
    let data = object(selection, place: hash("root")) ?? "null"
    let tail = errors.isEmpty ? "" : ",\"errors\":[\(errors.joined(separator: ","))]"
    let text = "{\"data\":\(data)\(tail)}"
    return isSpaced ? spaced(text) : text
  }

  // MARK: Values

  private func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private func dice(_ place: UInt64) -> SeededGenerator { SeededGenerator(seed: place) }

  /// Nil if a non-null field is null because of an error: then the object is null.
  private mutating func object(_ selection: FieldSelection, place: UInt64) -> String? {
    var random = dice(place)
    let types = selection.types.keys.sorted()
    guard let type = types.randomElement(using: &random), let object = selection.types[type] else {
      return "null"
    }
    // Few keys, so that entities recur at other places.
    let number = Int.random(in: 0..<4, using: &random)
    let isKeyless = type == "Berry" && number == 0
    let isEntity = GeneratedSchema.entities.contains(type) && !isKeyless
    let identity = isEntity ? hash("\(type)/\(number)") : hash("\(place)/\(type)")
    var members: [String] = []
    for field in object.fields {
      path.append("\"\(field.responseName)\"")
      defer { path.removeLast() }
      let value: String?
      switch (field.name, type) {
      case ("__typename", _): value = "\"\(type)\""
      case ("id", "Apple"):
        value = number.isMultiple(of: 2) ? "\"k\(number)\"" : "\"\\u0041\(number)\""
      case ("id", "Berry"): value = isKeyless ? "null" : "\(number)"
      case ("code", "Citrus"): value = "\"c:\(number)\""
      case ("lot", "Citrus"): value = "\(number)"
      default:
        value = self.value(of: field, level: 0, place: hash("\(identity)/\(field.storageName)"))
      }
      if value == nil, field.nonNull[0] { return nil }
      members.append("\"\(field.responseName)\":\(value ?? "null")")
    }
    return "{\(members.joined(separator: ","))}"
  }

  private mutating func value(of field: SelectedField, level: Int, place: UInt64) -> String? {
    if errorOneIn > 0, Int.random(in: 0..<errorOneIn, using: &errorDice) == 0 {
      errors.append("{\"message\":\"e\",\"path\":[\(path.joined(separator: ","))]}")
      return nil
    }
    var random = dice(place)
    if !field.nonNull[level], Int.random(in: 0..<6, using: &random) == 0 { return "null" }
    if level < field.listDepth {
      var elements: [String] = []
      for index in 0..<Int.random(in: 0..<4, using: &random) {
        path.append(String(index))
        defer { path.removeLast() }
        let element = value(of: field, level: level + 1, place: hash("\(place)/\(index)"))
        if element == nil, field.nonNull[level + 1] { return nil }
        elements.append(element ?? "null")
      }
      return "[\(elements.joined(separator: ","))]"
    }
    guard case .object(let selection) = field.value else {
      return Self.leaves.randomElement(using: &random)
    }
    return object(selection, place: place)
  }

  private static let leaves = [
    "1", "-0", "1.10", "1E5", "9223372036854775808", "true", "false", "\"\"", "\"plain\"",
    "\"\\u00e9\\/\\n\"", "\"zażółć\"", "{}", "[]", "{\"$ref\":[\"Apple\",\"k2\"]}",
    "{\"__typename\":1,\"larder_x\":[null,{\"a\":\"b c\"}]}", "[[1],[2,{}]]",
  ]

  private func spaced(_ text: String) -> String {
    var result = ""
    var isInString = false
    var isEscaped = false
    for character in text {
      result.append(character)
      if isEscaped {
        isEscaped = false
      } else if isInString, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isInString.toggle()
      }
      if !isInString, "{}[],:".contains(character) { result += " \n" }
    }
    return result
  }
}
