/// The introspection queries, by version of the specification.
///
/// A server rejects a query with a field it does not know, so send `newest` first, and if it is
/// rejected the next of `all`.
package enum IntrospectionQuery {
  /// With the fields that came with `@oneOf`.
  package static let newest = text(
    schema: "description", directive: "isRepeatable",
    type: "specifiedByURL isOneOf", inputValue: "isDeprecated deprecationReason",
    inputArguments: "(includeDeprecated: true)")

  /// The specification of October 2021.
  static let october2021 = text(
    schema: "description", directive: "isRepeatable", type: "specifiedByURL", inputValue: "",
    inputArguments: "")

  /// The specification of June 2018, which every server supports.
  package static let june2018 = text(
    schema: "", directive: "", type: "", inputValue: "", inputArguments: "")

  package static let all = [newest, october2021, june2018]

  private static func text(
    schema: String, directive: String, type: String, inputValue: String, inputArguments: String
  ) -> String {
    """
    query IntrospectionQuery {
      __schema {
        \(schema)
        queryType { name }
        mutationType { name }
        subscriptionType { name }
        types { ...FullType }
        directives {
          name
          description
          \(directive)
          locations
          args\(inputArguments) { ...InputValue }
        }
      }
    }

    fragment FullType on __Type {
      kind
      name
      description
      \(type)
      fields(includeDeprecated: true) {
        name
        description
        args\(inputArguments) { ...InputValue }
        type { ...TypeRef }
        isDeprecated
        deprecationReason
      }
      inputFields\(inputArguments) { ...InputValue }
      interfaces { ...TypeRef }
      enumValues(includeDeprecated: true) {
        name
        description
        isDeprecated
        deprecationReason
      }
      possibleTypes { ...TypeRef }
    }

    fragment InputValue on __InputValue {
      name
      description
      type { ...TypeRef }
      defaultValue
      \(inputValue)
    }

    fragment TypeRef on __Type {
      \(typeReference(depth: typeDepth))
    }
    """
  }

  /// Levels of lists and non-nulls that are requested: nine, as in the reference implementation.
  private static let typeDepth = 9

  private static func typeReference(depth: Int) -> String {
    depth == 0 ? "kind name" : "kind name ofType { \(typeReference(depth: depth - 1)) }"
  }
}
