import GraphQL
import Model

/// The path of `@route`, under `/api`.
package struct RouteTemplate: Hashable, Sendable {
  package enum Segment: Hashable, Sendable {
    /// Percent-decoded text.
    case literal(String)
    /// `{name}`: exactly one segment, bound to the variable of that name.
    case parameter(String)
  }

  /// As written, `/films/{id}`.
  package let path: String
  package let segments: [Segment]

  package var parameters: [String] {
    segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
  }
}

/// Reads the path of `@route` and checks it against the operation's variables.
struct RouteReader {
  /// Reserved names of the service's own routes and parameters next to an operation's.
  static let reservedWords: Set<String> = ["diff", "stream", "from"]

  private(set) var findings: [Finding] = []

  mutating func read(
    _ directive: Directive, variables: [OperationVariable]
  ) -> RouteTemplate? {
    let arguments = DirectiveArguments(directive)
    guard let path = arguments.string("path") else { return nil }
    let location = arguments.location("path")
    let faultsBefore = findings.count
    guard path.hasPrefix("/"), path.count > 1 else {
      fault("The path must begin with \"/\" and must not be empty.", at: location)
      return nil
    }
    var segments: [RouteTemplate.Segment] = []
    for text in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      if let segment = segment(text, path: path, at: location) { segments.append(segment) }
    }
    guard findings.count == faultsBefore else { return nil }
    let template = RouteTemplate(path: path, segments: segments)
    check(template, variables: variables, at: location)
    return findings.count == faultsBefore ? template : nil
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private mutating func segment(
    _ text: Substring, path: String, at location: Location
  ) -> RouteTemplate.Segment? {
    if text.hasPrefix("{"), text.hasSuffix("}") {
      return .parameter(String(text.dropFirst().dropLast()))
    }
    guard !text.isEmpty, text != ".", text != ".." else {
      fault("The path \"\(path)\" has an empty or dotted segment.", at: location)
      return nil
    }
    guard text.utf8.allSatisfy(Self.isPlain) else {
      fault(
        "\"\(text)\" in the path is neither plain text (letters, digits, - . _ ~) nor one whole "
          + "{parameter}.", at: location)
      return nil
    }
    guard !Self.reservedWords.contains(String(text)) else {
      fault(
        "The path uses \"\(text)\", which is reserved for the service's own routes.", at: location)
      return nil
    }
    return .literal(String(text))
  }

  /// RFC 3986, section 2.3: these need no percent-encoding, so a path has one spelling.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private mutating func check(
    _ template: RouteTemplate, variables: [OperationVariable], at location: Location
  ) {
    var seen: Set<String> = []
    for name in template.parameters {
      guard seen.insert(name).inserted else {
        fault("The path contains {\(name)} twice.", at: location)
        continue
      }
      guard let variable = variables.first(where: { $0.name == name }) else {
        let hint = NearestNames.didYouMean(name, among: variables.map(\.name))
        fault(
          "The path parameter {\(name)} is not a variable of the operation.\(hint)", at: location)
        continue
      }
      switch variable.type.nullable {
      case .list, .object:
        fault(
          "The path parameter {\(name)} is \(variable.typeText), which one segment cannot hold.",
          at: location)
      default: continue
      }
    }
  }
}
