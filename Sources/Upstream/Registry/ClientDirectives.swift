import GraphQL

/// The directives for Larder itself: known when operations are validated, and removed from
/// documents sent upstream.
enum ClientDirectives {
  static let route = "route"
  static let cache = "cache"
  static let access = "access"
  static let sync = "sync"
  static let effects = "effects"
  static let complete = "complete"
  static let authoritative = "authoritative"
  static let key = "key"

  /// The directives used in operations.
  static let inOperations: Set<String> = [
    route, cache, access, sync, effects, complete, authoritative,
  ]

  /// The definitions in SDL. Their types have the reserved prefix, so that they do not collide with
  /// types of an upstream schema.
  static let definitions = """
    directive @route(path: String!) on QUERY | MUTATION | SUBSCRIPTION
    directive @cache(
      maxAge: Int, staleWhileRevalidate: Int, staleIfError: Int, scope: larder_CacheScope,
      claim: String, onError: larder_ErrorPolicy = FILL, tags: [String!],
      shadow: Float, lookup: String
    ) on QUERY | SUBSCRIPTION
    directive @access(role: larder_Role) on QUERY | MUTATION | SUBSCRIPTION
    directive @sync(
      object: String, refs: [String!], repeatable: Boolean = false, independent: Boolean = false,
      verify: String, optimistic: [String!]
    ) on MUTATION
    directive @effects(
      updates: [String!], deletes: [String!], invalidates: [String!], appends: [String!]
    ) on MUTATION | SUBSCRIPTION
    directive @complete on FIELD
    directive @authoritative on FIELD
    directive @key(fields: String!) on OBJECT | INTERFACE
    directive @local(scope: larder_LocalScope = DEVICE) on OBJECT
    directive @inverse(field: String!, onDelete: larder_OnDelete = NULLIFY) on FIELD_DEFINITION
    directive @default(value: larder_Any!) on FIELD_DEFINITION
    directive @length(min: Int, max: Int) on FIELD_DEFINITION
    directive @range(min: Float, max: Float) on FIELD_DEFINITION
    directive @pattern(regex: String!) on FIELD_DEFINITION
    directive @renamed(from: String!) on FIELD_DEFINITION | OBJECT
    enum larder_CacheScope { PUBLIC USER CLAIM }
    enum larder_ErrorPolicy { FAIL PARTIAL FILL }
    enum larder_Role { PUBLIC DEVICE USER ADMIN }
    enum larder_LocalScope { DEVICE USER }
    enum larder_OnDelete { NULLIFY CASCADE DENY }
    scalar larder_Any
    """

  /// The definitions as a document, without those that the schema declares itself.
  static func document(without declared: Set<String>) -> Document {
    let source = Source(name: "client directives", body: definitions)
    var document = Parser.parseRecovering(source).document
    document.definitions.removeAll { definition in
      if case .directive(let directive) = definition {
        return declared.contains(directive.name.value)
      }
      return false
    }
    return document
  }

  /// Removes the reserved prefix from type names in a message, because the documentation names them
  /// without it.
  static func withoutPrefix(_ message: String) -> String {
    message.replacing("\"larder_", with: "\"")
  }
}

/// The literal arguments of a directive. A literal of another kind than declared reads as absent:
/// validation reports it.
struct DirectiveArguments {
  let directive: Directive

  init(_ directive: Directive) {
    self.directive = directive
  }

  func string(_ name: String) -> String? { directive.argument(named: name)?.stringText }

  func bool(_ name: String) -> Bool? {
    if case .boolean(let flag)? = directive.argument(named: name)?.kind { flag } else { nil }
  }

  func int(_ name: String) -> Int? {
    if case .int(let digits)? = directive.argument(named: name)?.kind { Int(digits) } else { nil }
  }

  func number(_ name: String) -> Double? {
    switch directive.argument(named: name)?.kind {
    case .int(let digits)?, .float(let digits)?: Double(digits)
    default: nil
    }
  }

  func enumValue(_ name: String) -> String? {
    if case .enum(let value)? = directive.argument(named: name)?.kind { value } else { nil }
  }

  /// Strings with their locations. A single string counts as a list of one.
  func strings(_ name: String) -> [(text: String, location: Location)] {
    guard let value = directive.argument(named: name) else { return [] }
    let items = if case .list(let items) = value.kind { items } else { [value] }
    return items.compactMap { item in item.stringText.map { ($0, item.location) } }
  }

  func location(_ name: String) -> Location {
    directive.argument(named: name)?.location ?? directive.location
  }
}
