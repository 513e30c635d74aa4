import GraphQL

/// Checks the locations and arguments of the directives of local types.
struct LocalDirectives {
  static let local = "local"
  static let inverse = "inverse"
  static let fallback = "default"
  static let length = "length"
  static let range = "range"
  static let pattern = "pattern"
  static let renamed = "renamed"
  static let key = "key"
  static let unique = "unique"

  static let names: Set<String> = [
    local, inverse, fallback, length, range, pattern, renamed, key, unique,
  ]

  enum Place: String {
    case type, interface, field
    case addedField = "field of a type of upstream"
  }

  private struct Shape {
    var places: Set<Place> = [.field, .addedField]
    var isRepeatable = false
    var required: [String] = []
    /// The kinds of the arguments by name.
    var arguments: [String: ArgumentKind]
  }

  private enum ArgumentKind {
    case text
    case whole
    case number
    case oneOf([String])
    case anything

    func accepts(_ value: Value) -> Bool {
      switch (self, value.kind) {
      case (.text, .string), (.whole, .int), (.number, .int), (.number, .float), (.anything, _):
        true
      case (.oneOf(let names), .enum(let name)): names.contains(name)
      default: false
      }
    }

    var phrase: String {
      switch self {
      case .text: "a string"
      case .whole: "an integer"
      case .number: "a number"
      case .oneOf(let names): "one of \(names.joined(separator: ", "))"
      case .anything: "a value"
      }
    }
  }

  private static let shapes: [String: Shape] = [
    local: Shape(
      places: [.type, .addedField], arguments: ["scope": .oneOf(["DEVICE", "USER"])]),
    inverse: Shape(
      required: ["field"],
      arguments: ["field": .text, "onDelete": .oneOf(["NULLIFY", "CASCADE", "DENY"])]),
    fallback: Shape(required: ["value"], arguments: ["value": .anything]),
    length: Shape(arguments: ["min": .whole, "max": .whole]),
    range: Shape(arguments: ["min": .number, "max": .number]),
    pattern: Shape(required: ["regex"], arguments: ["regex": .text]),
    renamed: Shape(
      places: [.type, .field, .addedField], required: ["from"], arguments: ["from": .text]),
    key: Shape(places: [.type, .interface], required: ["fields"], arguments: ["fields": .text]),
    unique: Shape(places: [.type, .field], isRepeatable: true, arguments: ["fields": .text]),
  ]

  private(set) var findings: [Finding] = []

  mutating func check(_ directives: [Directive], on place: Place) {
    var seen: Set<String> = []
    for directive in directives {
      let name = directive.name.value
      guard name != "deprecated" || place == .type || place == .interface else { continue }
      guard let shape = Self.shapes[name] else {
        fault(
          "Unknown directive @\(name) for local types."
            + NearestNames.didYouMean(name, among: Self.names.sorted()), directive.location)
        continue
      }
      let isRepeatable = shape.isRepeatable && place == .type
      if !seen.insert(name).inserted, !isRepeatable {
        fault("@\(name) is applied twice.", directive.location)
      }
      if !shape.places.contains(place) {
        fault("@\(name) cannot be applied to a \(place.rawValue).", directive.location)
      }
      check(directive, shape)
      // On a field it names that field.
      if name == Self.unique, place != .addedField,
        (directive.argument(named: "fields") == nil) != (place == .field)
      {
        fault(
          place == .field
            ? "@unique on a field has no argument." : "@unique requires the argument fields.",
          directive.location)
      }
    }
  }

  private mutating func check(_ directive: Directive, _ shape: Shape) {
    let name = directive.name.value
    for required in shape.required where directive.argument(named: required) == nil {
      fault("@\(name) requires the argument \(required).", directive.location)
    }
    for argument in directive.arguments {
      guard let kind = shape.arguments[argument.name.value] else {
        fault("@\(name) has no argument \(argument.name.value).", argument.location)
        continue
      }
      if !kind.accepts(argument.value) {
        fault("@\(name)(\(argument.name.value):) must be \(kind.phrase).", argument.value.location)
      }
    }
  }

  private mutating func fault(_ message: String, _ location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }
}
