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

  static let names: Set<String> = [
    local, inverse, fallback, length, range, pattern, renamed,
  ]

  private struct Shape {
    var onObject = false
    var onField = true
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
      onObject: true, onField: false, arguments: ["scope": .oneOf(["DEVICE", "USER"])]),
    inverse: Shape(
      required: ["field"],
      arguments: ["field": .text, "onDelete": .oneOf(["NULLIFY", "CASCADE", "DENY"])]),
    fallback: Shape(required: ["value"], arguments: ["value": .anything]),
    length: Shape(arguments: ["min": .whole, "max": .whole]),
    range: Shape(arguments: ["min": .number, "max": .number]),
    pattern: Shape(required: ["regex"], arguments: ["regex": .text]),
    renamed: Shape(onObject: true, required: ["from"], arguments: ["from": .text]),
  ]

  private(set) var findings: [Finding] = []

  /// - Parameter isAdded: whether they are on a field that is added to a type of upstream.
  mutating func check(_ directives: [Directive], onObject: Bool, isAdded: Bool = false) {
    var seen: Set<String> = []
    for directive in directives {
      let name = directive.name.value
      guard name != "deprecated" || onObject else { continue }
      guard let shape = Self.shapes[name] else {
        fault(
          "Unknown directive @\(name) for local types."
            + NearestNames.didYouMean(name, among: Self.names.sorted()), directive.location)
        continue
      }
      if !seen.insert(name).inserted { fault("@\(name) is applied twice.", directive.location) }
      if onObject ? !shape.onObject : !shape.onField && !(isAdded && name == Self.local) {
        fault(
          "@\(name) cannot be applied to \(onObject ? "a type" : "a field").", directive.location)
      }
      check(directive, shape)
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
