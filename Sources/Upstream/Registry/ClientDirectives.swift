import GraphQL

/// The directives that speak to Larder alone: known when operations are validated, and taken out of
/// what upstream is sent.
enum ClientDirectives {
  static let route = "route"
  static let cache = "cache"
  static let access = "access"
  static let sync = "sync"
  static let effects = "effects"
  static let complete = "complete"
  static let authoritative = "authoritative"
  static let key = "key"

  /// Those that stand in operations.
  static let inOperations: Set<String> = [
    route, cache, access, sync, effects, complete, authoritative,
  ]

  /// Definitions in SDL. The types they need are named after the reserved prefix, so that no
  /// upstream schema meets them.
  static let definitions = """
    directive @route(path: String!) on QUERY | MUTATION | SUBSCRIPTION
    directive @cache(
      maxAge: Int, staleWhileRevalidate: Int, staleIfError: Int, scope: larder_CacheScope,
      claim: String, onError: larder_ErrorPolicy = FILL, tags: [String!]
    ) on QUERY
    directive @access(role: larder_Role) on QUERY | MUTATION | SUBSCRIPTION
    directive @sync(
      object: String, refs: [String!], repeatable: Boolean = false, independent: Boolean = false,
      verify: String
    ) on MUTATION
    directive @effects(
      updates: [String!], deletes: [String!], invalidates: [String!], appends: [String!]
    ) on MUTATION
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

  /// The definitions as a document, without those the schema declares in its own way.
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

  /// A message with the types of the directives' arguments named as their documentation names them:
  /// they have a prefix only so that they meet no type of a schema.
  static func withoutPrefix(_ message: String) -> String {
    message.replacing("\"larder_", with: "\"")
  }
}
