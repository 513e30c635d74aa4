/// The names that one language allows.
struct LanguageNames: Sendable {
  /// Words that cannot be an identifier without quotation.
  let words: Set<String>
  /// The quotation mark of such words; empty if members need none.
  let quote: String
  /// Members that cannot be quoted, or that every type has; they get an underscore.
  let takenMembers: Set<String>
  /// Types of the language and of the library that generated code names; others of these names get an
  /// underscore.
  let takenTypes: Set<String>
  /// Whether values of enums are written in camel case, and the names that they cannot have.
  var camelCasesValues = false
  var takenValues: Set<String> = []

  /// Returns the name of a type at the top of a file.
  func type(_ name: String) -> String {
    takenTypes.contains(name) || words.contains(name) ? name + "_" : name
  }

  /// Returns the name of a member, without quotation.
  func member(_ name: String) -> String {
    takenMembers.contains(name) ? name + "_" : name
  }

  /// Returns the name of an enum's value, without quotation.
  func value(_ name: String) -> String {
    let name = member(camelCasesValues ? IdentifierCase.camelCase(name) : name)
    return takenValues.contains(name) ? name + "_" : name
  }

  /// Returns an identifier as it is written.
  func written(_ name: String) -> String {
    words.contains(name) && !quote.isEmpty ? quote + name + quote : name
  }
}

extension LanguageNames {
  /// Names of types that every generated record has inside, besides those of its fields.
  private static let inner: Set<String> = [
    "Other", "Columns", "Variables", "Response", "CodingKeys", "Companion", "Serializer",
  ]

  static let swift = LanguageNames(
    words: [
      "Any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue",
      "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
      "fileprivate", "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let",
      "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows",
      "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
      "try", "typealias", "var", "where", "while",
    ],
    quote: "`",
    takenMembers: [
      "self", "Self", "init", "Type", "Protocol", "hashValue", "rawValue", "encode", "hash",
      "variables", "CodingKeys", "_",
    ],
    takenTypes: inner.union(
      [
        "Self", "Type", "Protocol", "String", "Int", "Int64", "Double", "Bool", "Decimal", "Date",
        "UUID", "URL", "Data", "JSONValue", "Reference", "Entity", "Column", "GraphQLOperation",
        "EntityLookup", "OperationKind", "Larder", "Codable", "Hashable", "Hasher", "Sendable",
        "Identifiable",
        "Decoder", "Encoder", "CodingKey", "RawRepresentable", "Optional", "Array", "Foundation",
      ]), camelCasesValues: true,
    // `.none` and `.some` of an optional enum would be those of the optional.
    takenValues: ["unknown", "known", "none", "some"])

  static let kotlin = LanguageNames(
    words: [
      "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in",
      "interface", "is", "null", "object", "package", "return", "super", "this", "throw", "true",
      "try", "typealias", "typeof", "val", "var", "when", "while",
    ],
    quote: "`",
    // `class` would have the getter that every object has.
    takenMembers: ["class", "Companion", "_", "__"],
    takenTypes: inner.union([
      "String", "Int", "Long", "Double", "Boolean", "List", "Any", "Unit", "Nothing",
      "Serializable",
      "SerialName", "KSerializer", "DeserializationStrategy", "JsonElement", "JsonPrimitive",
      "JsonContentPolymorphicSerializer", "JvmInline", "Reference", "LarderOperation", "Deprecated",
      "Transient", "Json",
    ]))

  static let typescript = LanguageNames(
    words: [
      "any", "as", "bigint", "boolean", "break", "case", "catch", "class", "const", "continue",
      "debugger", "default", "delete", "do", "else", "enum", "export", "extends", "false",
      "finally", "for", "function", "if", "implements", "import", "in", "instanceof", "interface",
      "let", "never", "new", "null", "number", "object", "package", "private", "protected",
      "public",
      "return", "static", "string", "super", "switch", "symbol", "this", "throw", "true", "try",
      "type", "typeof", "undefined", "unknown", "var", "void", "while", "with", "yield",
    ],
    quote: "",
    takenMembers: [],
    takenTypes: [
      "Operation", "Operations", "Entities", "Reference", "Array", "ReadonlyArray", "Record",
    ])
}
